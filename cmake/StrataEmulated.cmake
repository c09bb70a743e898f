# The GPU library on an emulated GPU, so that all of it is tested where there is none: CUDA's
# runtime is that of tests/emulator/cuda, and the C++ compiler compiles the kernels.
#
#   strata_find_emulated()     sets STRATA_GPU_API, or says in strata_gpu_missing why not
#   strata_emulated_kernel()   compiles one kernel

macro(strata_find_emulated)
  if(STRATA_BUILD_TESTS)
    find_package(Boost QUIET COMPONENTS context)
    if(TARGET Boost::context)
      set(STRATA_GPU_API emulated)
    else()
      set(strata_gpu_missing
          "an emulated GPU needs Boost.Context (Debian package libboost-context-dev)")
    endif()
  else()
    set(strata_gpu_missing "an emulated GPU is part of the tests, and STRATA_BUILD_TESTS is off")
  endif()
endmacro()

# Kernels come in hundreds of variants, each of which runs for milliseconds.
function(strata_emulated_kernel target kernel)
  target_sources(${target} PRIVATE ${kernel})
  set(language ${PROJECT_SOURCE_DIR}/tests/emulator/cuda/kernels.hpp)
  set_source_files_properties(${kernel} PROPERTIES
    LANGUAGE CXX
    SKIP_PRECOMPILE_HEADERS ON
    OBJECT_DEPENDS ${language}
    COMPILE_OPTIONS "-xc++;-O1;-Wno-unknown-pragmas;-include;${language}")
endfunction()

# Tests that an emulated GPU leaves out, as a filter of GoogleTest, each for a reason.
function(strata_emulated_filter result)
  set(left_out
    # Writes where no memory is, which ends the process where the device is part of it.
    Launch.FailuresOfKernelsArriveWithTheNextSynchronisation
    # The emulated runtime has no default stream.
    Streams.AdoptTheDefaultStream
    # They measure the GPU first: gigabytes, and speeds that mean nothing.
    GpuMeasure.* MachineGpu.* MpkGpu.* SpmvGpu.* AppsGpu.*)
  list(JOIN left_out ":" filter)
  set(${result} "-${filter}" PARENT_SCOPE)
endfunction()
