# HIP, if there is a hipcc that can compile the library. CMake's own support for HIP refuses some
# compilers that work, Debian's among them: hipcc is called by custom commands.
#
#   strata_find_hip()      sets STRATA_GPU_API, or says in strata_gpu_missing why not
#   strata_hip_object()    the command that compiles one kernel

# What every kernel is compiled with.
function(strata_hip_options result)
  # A loop that is left early is not unrolled, which is no fault of the code.
  set(options -x hip -std=c++20 -fPIC -O3 -Wall -Wextra -Wno-pass-failed -DSTRATA_GPU_HIP
      ${STRATA_HIP_FLAGS})
  if(STRATA_WARNINGS_AS_ERRORS)
    list(APPEND options -Werror)
  endif()
  foreach(architecture IN LISTS STRATA_HIP_ARCHITECTURES)
    list(APPEND options --offload-arch=${architecture})
  endforeach()
  set(${result} ${options} PARENT_SCOPE)
endfunction()

# Why hipcc cannot compile the library; empty if it can.
function(strata_check_hipcc result)
  set(missing "")
  if(NOT HIPCC_PROGRAM)
    set(missing "hipcc not found (Debian package hipcc)")
  else()
    strata_version_of(version "HIP version: ([0-9.]+)" ${HIPCC_PROGRAM})
    strata_hip_options(options)
    set(tried "${HIPCC_PROGRAM} ${version} ${options}")
    if(NOT version)
      set(missing "${HIPCC_PROGRAM} does not answer as hipcc does")
    elseif(NOT STRATA_HIP_TRIED STREQUAL tried)
      strata_try(error ${HIPCC_PROGRAM} ${options} -c ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/try_gpu.cu
                 -o try_hip.o)
      if(error)
        set(missing "hipcc ${version} (${HIPCC_PROGRAM}) does not compile: ${error}")
      else()
        set(STRATA_HIP_TRIED "${tried}" CACHE INTERNAL "hipcc and the options with which it works")
      endif()
    endif()
  endif()
  set(${result} "${missing}" PARENT_SCOPE)
endfunction()

# A macro: the targets that find_package imports are for the folder that asks, and for those below.
macro(strata_find_hip)
  find_program(HIPCC_PROGRAM hipcc PATHS /opt/rocm/bin)
  mark_as_advanced(HIPCC_PROGRAM)
  strata_check_hipcc(strata_gpu_missing)
  if(NOT strata_gpu_missing)
    find_package(hip CONFIG QUIET PATHS /opt/rocm)
    if(TARGET hip::host)
      set(STRATA_GPU_API hip)
    else()
      set(strata_gpu_missing
          "hipcc found, but not the CMake package hip (Debian package libamdhip64-dev)")
    endif()
  endif()
endmacro()

# The command that makes an object of a kernel, with what the target includes.
function(strata_hip_object target kernel object)
  set(includes "$<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>>")
  strata_hip_options(options)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${strata_launcher} ${HIPCC_PROGRAM} ${options}
            "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
            -MD -MT ${object} -MF ${object}.d -c ${kernel} -o ${object}
    DEPENDS ${kernel} DEPFILE ${object}.d
    COMMENT "Building HIP object ${object}" VERBATIM COMMAND_EXPAND_LISTS)
endfunction()
