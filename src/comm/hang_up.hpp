#pragma once

namespace sticky::comm {

/// Ends this process's connection to the PMIx server of its launcher (mpirun, orted) and waits for
/// at most a second until the server has ended it too. To be called right before a process ends
/// while others of its job may still be spawned.
///
/// Why: the server learns of an end twice, by the connection and by the process. Where the second
/// comes first it forgets the client without taking its connection out of what it watches; the next
/// client that gets the same file descriptor is never heard, and its spawn hangs for ever (Open MPI
/// 4.1.4 with PMIx 4.2.2; docs/decisions/0014-growing.md).
void hang_up_on_launcher();

}  // namespace sticky::comm
