# sticky_room(NAME SOURCES files… DEPENDS targets… [PRIVATE_LIBS targets…])
# One static library sticky_NAME of src/NAME and include/sticky/NAME. Public headers are found by their
# folder, so that none escapes the check that each compiles alone (target all_verify_interface_header_sets).
# DEPENDS: rooms and libraries that the headers need; PRIVATE_LIBS: libraries that only src/NAME may see.
function(sticky_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_LIBS" ${ARGN})
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/sticky/${name}/*.hpp)
  if(NOT ARG_SOURCES)  # headers only
    add_library(sticky_${name} INTERFACE)
    target_link_libraries(sticky_${name} INTERFACE ${ARG_DEPENDS})
    target_sources(sticky_${name} INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers})
    return()
  endif()
  add_library(sticky_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(sticky_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_LIBS} sticky_warnings)
  target_include_directories(sticky_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_sources(sticky_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers})
endfunction()
