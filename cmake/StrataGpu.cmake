# GPU code: one interface per build, CUDA or HIP, from the same sources. Where neither is found, or
# what is found cannot compile it, the library and the command are built without it: a line of the
# summary says why, and configuring goes on.
#
#   STRATA_GPU_API               cuda, hip, emulated (for tests), or empty
#   strata_gpu_sources()         adds kernels (.cu) to the library strata_gpu
#   strata_assembled_sources()   says which of them have to be assembled to be checked
#   strata_finish_gpu()          once, in the folder of the library, when all kernels are known
#   strata_add_kernels()         adds kernels to any other target

include(StrataTry)
include(StrataCuda)
include(StrataHip)
include(StrataEmulated)

set(STRATA_GPU auto CACHE STRING
    "GPU code: auto (CUDA where it and a GPU are found), cuda, hip, emulated (for tests) or off")
set_property(CACHE STRATA_GPU PROPERTY STRINGS auto cuda hip emulated off)
set(STRATA_HIP_ARCHITECTURES gfx90a gfx1030 CACHE STRING "AMD GPUs to compile for")
set(STRATA_HIP_FLAGS "" CACHE STRING "More options for hipcc")

set(STRATA_GPU_API "")
set_property(GLOBAL PROPERTY STRATA_GPU_KERNELS "")

# Kernels take longer to compile than everything else: without a GPU they are for those who ask.
set(strata_gpus "")
if(STRATA_GPU STREQUAL "auto")
  strata_find_gpus(strata_gpus)
endif()
if(STRATA_GPU STREQUAL "auto" AND NOT strata_gpus)
  set(strata_gpu_missing
      "nvidia-smi finds no GPU; -DSTRATA_GPU=cuda or hip builds for one that is elsewhere")
elseif(STRATA_GPU STREQUAL "auto" OR STRATA_GPU STREQUAL "cuda")
  strata_find_cuda()
elseif(STRATA_GPU STREQUAL "hip")
  strata_find_hip()
elseif(STRATA_GPU STREQUAL "emulated")
  strata_find_emulated()
elseif(NOT STRATA_GPU)
  set(strata_gpu_missing "STRATA_GPU is off")
else()
  message(FATAL_ERROR "STRATA_GPU is '${STRATA_GPU}'; it can be auto, cuda, hip, emulated or off")
endif()
if(STRATA_GPU_API STREQUAL "cuda")
  list(JOIN CMAKE_CUDA_ARCHITECTURES ", " strata_gpu_architectures)
  strata_summary("gpu" ON "CUDA ${CMAKE_CUDA_COMPILER_VERSION}, for ${strata_gpu_architectures}")
elseif(STRATA_GPU_API STREQUAL "hip")
  list(JOIN STRATA_HIP_ARCHITECTURES ", " strata_gpu_architectures)
  strata_summary("gpu" ON "HIP ${hip_VERSION}, for ${strata_gpu_architectures}")
elseif(STRATA_GPU_API STREQUAL "emulated")
  strata_summary("gpu" ON "CUDA on an emulated GPU, for tests; never installed")
else()
  if(STRATA_GPU MATCHES "^(cuda|hip|emulated)$")
    # A leading space keeps CMake from breaking the line.
    message(WARNING " STRATA_GPU is ${STRATA_GPU}, but there is no GPU code: ${strata_gpu_missing}")
  endif()
  strata_summary("gpu" OFF "${strata_gpu_missing}")
endif()

# The runtime's headers and which of the two it is, for the library's own code and for tests of it.
add_library(strata_gpu_runtime INTERFACE)
if(STRATA_GPU_API STREQUAL "cuda")
  set(STRATA_GPU_RUNTIME CUDA::cudart_static)
elseif(STRATA_GPU_API STREQUAL "hip")
  set(STRATA_GPU_RUNTIME hip::host)
  target_compile_definitions(strata_gpu_runtime INTERFACE STRATA_GPU_HIP)
elseif(STRATA_GPU_API STREQUAL "emulated")
  set(STRATA_GPU_RUNTIME emulated_cuda)
  target_compile_definitions(strata_gpu_runtime INTERFACE STRATA_GPU_EMULATED)
endif()
target_link_libraries(strata_gpu_runtime INTERFACE ${STRATA_GPU_RUNTIME})

# strata_add_kernels(<target> <file.cu>...): kernels of a target of this folder.
function(strata_add_kernels target)
  foreach(kernel IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH kernel BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    if(STRATA_GPU_API STREQUAL "cuda")
      target_sources(${target} PRIVATE ${kernel})
    elseif(STRATA_GPU_API STREQUAL "emulated")
      strata_emulated_kernel(${target} ${kernel})
    else()
      cmake_path(RELATIVE_PATH kernel BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
      set(object ${PROJECT_BINARY_DIR}/hip/${name}.o)
      cmake_path(GET object PARENT_PATH folder)
      file(MAKE_DIRECTORY ${folder})
      strata_hip_object(${target} ${kernel} ${object})
      target_sources(${target} PRIVATE ${object})
      set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    endif()
  endforeach()
endfunction()

# strata_gpu_sources(<file.cu>...): kernels of the library, from whichever folder they are in.
function(strata_gpu_sources)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY STRATA_GPU_KERNELS ${ARGN})
endfunction()

# strata_assembled_sources(<file.cu>...): kernels that are assembled even where a build that is only
# checked ends as PTX: nothing but the assembler reads the instructions that they spell out.
function(strata_assembled_sources)
  if(NOT STRATA_ONLY_CHECKED OR NOT STRATA_GPU_API STREQUAL "cuda")
    return()
  endif()
  set(architectures ${CMAKE_CUDA_ARCHITECTURES})
  list(FILTER architectures INCLUDE REGEX "-virtual$")
  list(TRANSFORM architectures REPLACE "-virtual$" "-real")
  strata_architecture_options(options ${architectures})
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY strata_gpu APPEND PROPERTY COMPILE_OPTIONS ${options})
endfunction()

# Targets see the results of custom commands of their own folder only, hence in one go.
function(strata_finish_gpu)
  get_property(kernels GLOBAL PROPERTY STRATA_GPU_KERNELS)
  strata_add_kernels(strata_gpu ${kernels})
endfunction()
