#pragma once

namespace sticky::cli {

/// The whole program: understands the command line, does what it asks for, and translates every
/// error into a sentence on standard error and an exit code.
[[nodiscard]] int run_app(int argc, char** argv);

}  // namespace sticky::cli
