// Functions of OpenMP's interface, of the runtime that oneDNN is linked to, GCC's. A compiler's <omp.h> may
// belong to another one, such as LLVM's, which ends the process where it may open no shared memory.
#pragma once

extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int threads);
}
