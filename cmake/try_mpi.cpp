// Says which MPI it is: of all functions this one may be called before MPI_Init.
#include <mpi.h>

#include <cstdio>

int main() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return 1;
  std::fwrite(text, 1, static_cast<std::size_t>(length), stdout);
}
