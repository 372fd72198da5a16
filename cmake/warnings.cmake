# Every target of ours links sticky_warnings: warnings, sanitizers, and no contraction of a*b+c, so that
# the same source gives the same bits whatever instruction set the compiler was allowed.
add_library(sticky_warnings INTERFACE)
target_compile_options(sticky_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -ffp-contract=off
  # At -O3 g++ 12 sees overlapping copies in plain string additions (GCC bug 105651).
  $<$<CONFIG:Release>:-Wno-restrict>)
if(STICKY_WERROR)
  target_compile_options(sticky_warnings INTERFACE -Werror)
endif()
if(STICKY_SANITIZE)
  target_compile_options(sticky_warnings INTERFACE
    -fsanitize=${STICKY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(sticky_warnings INTERFACE -fsanitize=${STICKY_SANITIZE})
endif()
