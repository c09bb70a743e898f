# MPI, where it is found: STRATA_MPI is AUTO, ON (configuring fails without) or OFF.
#
# Leaves strata_has_mpi and, if it is on, the target MPI::MPI_CXX, the program that starts ranks and
# what it needs in its environment for tests.

include_guard()

set(STRATA_MPI AUTO CACHE STRING "Build for ranks of MPI: AUTO (where it is found), ON or OFF")
set_property(CACHE STRATA_MPI PROPERTY STRINGS AUTO ON OFF)

set(strata_has_mpi OFF)
set(strata_mpi_words "STRATA_MPI is OFF")
if(STRATA_MPI)
  # The C interface of MPI is all that is used.
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND)
    set(strata_mpi_words "MPI not found (Debian package libopenmpi-dev)")
  elseif(MPI_CXX_VERSION VERSION_LESS 3.1)
    set(strata_mpi_words "MPI ${MPI_CXX_VERSION}, and 3.1 is needed")
  else()
    set(strata_has_mpi ON)
    set(strata_mpi_words "MPI ${MPI_CXX_VERSION}")
    # Which one it is says the first word of its library: "Open MPI v4.1.4, …".
    try_run(strata_mpi_runs strata_mpi_compiles ${PROJECT_BINARY_DIR}/try_mpi
            SOURCES ${CMAKE_CURRENT_LIST_DIR}/try_mpi.cpp LINK_LIBRARIES MPI::MPI_CXX
            RUN_OUTPUT_VARIABLE strata_mpi_library)
    if(strata_mpi_compiles AND strata_mpi_runs EQUAL 0)
      string(REGEX MATCH "^[^,\n]*" strata_mpi_library "${strata_mpi_library}")
      string(APPEND strata_mpi_words ", ${strata_mpi_library}")
    endif()
    # Tests run as any user and with more ranks than processors; other MPIs ignore the variables.
    set(strata_mpi_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
        OMPI_MCA_hwloc_base_binding_policy=none OMP_NUM_THREADS=1)
  endif()
  if(STRATA_MPI STREQUAL "ON" AND NOT strata_has_mpi)
    message(FATAL_ERROR " ${strata_mpi_words}, and STRATA_MPI is ON")
  endif()
endif()
strata_summary("MPI" ${strata_has_mpi} "${strata_mpi_words}")
