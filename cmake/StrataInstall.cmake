# `cmake --install` puts the library, its headers and the files behind find_package(strata) in place.
# `--component strata-development` leaves the command out.

include(CMakePackageConfigHelpers)

# Public headers are those that strata.hpp, gpu.hpp, mpi.hpp and mpi_gpu.hpp include: the headers of
# these folders but for a few, and a few of the kernels. tests/install checks that the lists agree.
set(public_folders base bench distributed distributed/gpu formats gen io machine machine/gpu measure
    model order plans schedule solvers solvers/gpu tune tune/gpu device plans/gpu measure/gpu)
set(public_headers strata.hpp gpu.hpp mpi.hpp mpi_gpu.hpp kernels/cpu/entry_parts.hpp kernels/cpu/levels.hpp
    kernels/cpu/line_windows.hpp kernels/cpu/parts.hpp kernels/cpu/step.hpp
    kernels/cpu/step_arguments.hpp kernels/cpu/stored_product.hpp kernels/cpu/team_product.hpp
    kernels/gpu/vector_operations.hpp kernels/has_kernel.hpp kernels/product_spec.hpp
    kernels/reference/spmv.hpp)
set(private_headers
  base/identity.hpp base/instantiate.hpp base/random.hpp
  formats/packed_sell_conversion.hpp
  gen/coefficients.hpp gen/grid.hpp gen/line_elements.hpp gen/recipe.hpp gen/row_selection.hpp
  gen/rowwise.hpp gen/spec.hpp
  io/read_text.hpp io/replace_file.hpp
  machine/fit.hpp
  measure/peers.hpp measure/rank_peers.hpp measure/gpu/peers.hpp measure/gpu/poison.hpp measure/gpu/vendor_solver.hpp
  schedule/reuse.hpp schedule/worker_sweep.hpp
  solvers/random_rows.hpp solvers/gpu/block_bodies.hpp solvers/gpu/program_pass.hpp
  solvers/gpu/scalar_operations.hpp)
# Of no use without the GPU library. What a device is, is known without one.
set(needs_gpu "^(gpu\\.hpp|kernels/gpu/.*|tune/gpu/.*|plans/gpu/.*|measure/gpu/.*|solvers/gpu/.*|machine/gpu/(device_profile|measure)\\.hpp|device/.*)$")

foreach(folder ${public_folders})
  file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR}/strata CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/strata/${folder}/*.hpp)
  list(APPEND public_headers ${headers})
endforeach()
list(REMOVE_ITEM public_headers ${private_headers})
if(NOT TARGET strata_gpu OR STRATA_GPU_API STREQUAL "emulated")
  list(FILTER public_headers EXCLUDE REGEX ${needs_gpu})
  list(APPEND public_headers device/device.hpp)
endif()
if(NOT TARGET strata_mpi_gpu OR STRATA_GPU_API STREQUAL "emulated")
  list(FILTER public_headers EXCLUDE REGEX "^(mpi_gpu\\.hpp|distributed/gpu/.*)$")
endif()
if(NOT TARGET strata_mpi)
  list(FILTER public_headers EXCLUDE REGEX "^(mpi\\.hpp|distributed/.*)$")
endif()
foreach(header ${public_headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/strata/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strata/${folder} COMPONENT strata-development)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/generated/strata/base/version.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strata/base COMPONENT strata-development)

# strata_install_library(<target> <export>): the library, and how find_package knows it.
function(strata_install_library target export)
  install(TARGETS ${target} EXPORT ${export}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT strata-development
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT strata-development
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ${export} NAMESPACE strata::
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/strata COMPONENT strata-development)
endfunction()
strata_install_library(strata strataTargets)
# In a file of its own: whoever does not ask for the GPU library needs no GPU's runtime.
if(TARGET strata_gpu AND NOT STRATA_GPU_API STREQUAL "emulated")
  strata_install_library(strata_gpu strataGpuTargets)
endif()

if(TARGET strata_mpi)
  strata_install_library(strata_mpi strataMpiTargets)
  if(TARGET strata_mpi_gpu AND NOT STRATA_GPU_API STREQUAL "emulated")
    strata_install_library(strata_mpi_gpu strataMpiGpuTargets)
  endif()
endif()
if(TARGET strata_petsc)
  strata_install_library(strata_petsc strataPetscTargets)
  install(FILES ${PROJECT_SOURCE_DIR}/strata/petsc.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strata COMPONENT strata-development)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/strataConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/strataConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/strata)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/strataConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/strataConfig.cmake
              ${PROJECT_BINARY_DIR}/strataConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/strata COMPONENT strata-development)
