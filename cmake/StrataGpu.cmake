# GPU code: one interface per build, CUDA or HIP, from the same sources. Where neither is found the
# library and the command are built without it.
#
#   STRATA_GPU_API         cuda, hip, or empty
#   strata_gpu_sources()   adds kernels (.cu) to the library strata_gpu
#   strata_finish_gpu()    once, in the folder of the library, when all kernels are known
#   strata_add_kernels()   adds kernels to any other target

set(STRATA_GPU auto CACHE STRING "GPU code: auto (CUDA where it is found), cuda, hip or off")
set_property(CACHE STRATA_GPU PROPERTY STRINGS auto cuda hip off)
set(STRATA_HIP_ARCHITECTURES gfx90a gfx1030 CACHE STRING "AMD GPUs to compile for")

set(STRATA_GPU_API "")
set_property(GLOBAL PROPERTY STRATA_GPU_KERNELS "")

# Real code for the GPU of this machine where it should be tuned for it. Without a GPU, real code
# for Hopper, and PTX that drivers compile for everything since Turing: quick to build and wrong
# nowhere. Builds that travel have real code for every generation that has its own kernels.
function(strata_choose_cuda_architectures result)
  if(NOT STRATA_NATIVE)
    set(${result} 75-real 80-real 90a-real 90-virtual PARENT_SCOPE)
    return()
  endif()
  set(found "")
  find_program(NVIDIA_SMI_PROGRAM nvidia-smi)
  mark_as_advanced(NVIDIA_SMI_PROGRAM)
  if(NVIDIA_SMI_PROGRAM)
    execute_process(COMMAND ${NVIDIA_SMI_PROGRAM} --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE capabilities ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      string(REGEX MATCHALL "[0-9]+\\.[0-9]" found "${capabilities}")
    endif()
  endif()
  set(architectures "")
  foreach(capability IN LISTS found)
    string(REPLACE "." "" architecture ${capability})
    if(architecture EQUAL 90)
      list(APPEND architectures 90a-real)
    elseif(architecture GREATER_EQUAL 75)
      list(APPEND architectures ${architecture}-real)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES architectures)
  if(NOT architectures)
    set(architectures 90a-real 75-virtual)
  endif()
  set(${result} ${architectures} PARENT_SCOPE)
endfunction()

# A macro: languages are enabled for the folder that asks, and for those below it.
macro(strata_find_cuda)
  set(strata_gpu_missing "")
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(STRATA_NVCC nvcc HINTS $ENV{CUDA_PATH}/bin $ENV{CUDA_HOME}/bin
                 PATHS /usr/local/cuda/bin /opt/cuda/bin)
    mark_as_advanced(STRATA_NVCC)
    if(STRATA_NVCC)
      set(ENV{CUDACXX} ${STRATA_NVCC})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      strata_choose_cuda_architectures(strata_cuda_architectures)
      set(CMAKE_CUDA_ARCHITECTURES ${strata_cuda_architectures} CACHE STRING "GPUs to compile for")
    endif()
    if(CCACHE_PROGRAM AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit QUIET)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.0)
      set(strata_gpu_missing "nvcc ${CMAKE_CUDA_COMPILER_VERSION} knows no C++20, 12.0 does")
    elseif(NOT TARGET CUDA::cudart_static)
      set(strata_gpu_missing "nvcc found, but not the static CUDA runtime")
    else()
      set(STRATA_GPU_API cuda)
      set(CMAKE_CUDA_STANDARD 20)
      set(CMAKE_CUDA_STANDARD_REQUIRED ON)
      set(CMAKE_CUDA_EXTENSIONS OFF)
      # CMake 3.25 does not know the option for every compiler that has it.
      if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
        set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      endif()
    endif()
  else()
    set(strata_gpu_missing "nvcc not found, or it compiles nothing")
  endif()
endmacro()

# CMake's own support for HIP refuses some compilers that work, Debian's among them: hipcc is called
# by custom commands.
macro(strata_find_hip)
  set(strata_gpu_missing "")
  find_program(HIPCC_PROGRAM hipcc PATHS /opt/rocm/bin)
  find_package(hip CONFIG QUIET PATHS /opt/rocm)
  if(NOT HIPCC_PROGRAM)
    set(strata_gpu_missing "hipcc not found (Debian package hipcc)")
  elseif(NOT TARGET hip::host)
    set(strata_gpu_missing "hipcc found, but not the CMake package hip")
  else()
    set(STRATA_GPU_API hip)
  endif()
endmacro()

if(STRATA_GPU STREQUAL "auto" OR STRATA_GPU STREQUAL "cuda")
  strata_find_cuda()
elseif(STRATA_GPU STREQUAL "hip")
  strata_find_hip()
elseif(NOT STRATA_GPU)
  set(strata_gpu_missing "STRATA_GPU is off")
else()
  message(FATAL_ERROR "STRATA_GPU is '${STRATA_GPU}'; it can be auto, cuda, hip or off")
endif()
if(STRATA_GPU_API STREQUAL "cuda")
  list(JOIN CMAKE_CUDA_ARCHITECTURES ", " strata_gpu_architectures)
  strata_summary("gpu" ON "CUDA ${CMAKE_CUDA_COMPILER_VERSION}, for ${strata_gpu_architectures}")
elseif(STRATA_GPU_API STREQUAL "hip")
  list(JOIN STRATA_HIP_ARCHITECTURES ", " strata_gpu_architectures)
  strata_summary("gpu" ON "HIP ${hip_VERSION}, for ${strata_gpu_architectures}")
else()
  if(STRATA_GPU STREQUAL "cuda" OR STRATA_GPU STREQUAL "hip")
    message(WARNING "STRATA_GPU is ${STRATA_GPU}, but there will be no GPU code: ${strata_gpu_missing}")
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
endif()
target_link_libraries(strata_gpu_runtime INTERFACE ${STRATA_GPU_RUNTIME})

# The command that makes an object of a kernel for HIP, with what the target includes.
function(strata_hip_object target kernel object)
  set(includes "$<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>>")
  # A loop that is left early is not unrolled, which is no fault of the code.
  set(flags -std=c++20 -fPIC -O3 -Wall -Wextra -Wno-pass-failed -DSTRATA_GPU_HIP)
  if(STRATA_WARNINGS_AS_ERRORS)
    list(APPEND flags -Werror)
  endif()
  foreach(architecture IN LISTS STRATA_HIP_ARCHITECTURES)
    list(APPEND flags --offload-arch=${architecture})
  endforeach()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CCACHE_PROGRAM} ${HIPCC_PROGRAM} -x hip ${flags}
            "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
            -MD -MT ${object} -MF ${object}.d -c ${kernel} -o ${object}
    DEPENDS ${kernel} DEPFILE ${object}.d
    COMMENT "Building HIP object ${object}" VERBATIM COMMAND_EXPAND_LISTS)
endfunction()

# strata_add_kernels(<target> <file.cu>...): kernels of a target of this folder.
function(strata_add_kernels target)
  foreach(kernel IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH kernel BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    if(STRATA_GPU_API STREQUAL "cuda")
      target_sources(${target} PRIVATE ${kernel})
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

# Targets see the results of custom commands of their own folder only, hence in one go.
function(strata_finish_gpu)
  get_property(kernels GLOBAL PROPERTY STRATA_GPU_KERNELS)
  strata_add_kernels(strata_gpu ${kernels})
endfunction()
