#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sticky {

/// Fills descriptors 0 to 2 where they are closed, or the next file opened would take their place
/// and be written to. To read or write there fails, as before.
void hold_standard_streams();

/// Says it on standard error. What that does not take (its disk is full, its reader is gone) is
/// lost: words are no reason to end a run.
void tell_text(std::string_view text);

template <class... Args>
void tell(fmt::format_string<Args...> text, Args&&... args) {
  tell_text(fmt::format(text, std::forward<Args>(args)...));
}

/// All that was printed on standard output so far is there. Throws SystemError otherwise.
void flush_output();

}  // namespace sticky
