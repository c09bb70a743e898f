# cmake -DCASE=… -DWORK=… -DGENERATOR=… -DMAKE_PROGRAM=… -P configure_test.cmake: one case, which is
# a function below. Each configures project/ with fake compilers and checks what is said.

set(HERE ${CMAKE_CURRENT_LIST_DIR})
set(FAKES ${HERE}/fakes)
file(REMOVE_RECURSE ${WORK})

# Only what a case sets itself may name a compiler or an architecture.
foreach(variable CC CXX CUDACXX CUDAHOSTCXX CUDAFLAGS CUDAARCHS CUDA_PATH CUDA_HOME)
  unset(ENV{${variable}})
endforeach()

# configure(<option>...): sets said and status.
macro(configure)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${HERE}/project -B ${WORK} -G ${GENERATOR}
                          -DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} --no-warn-unused-cli
                          -DSTRATA_NATIVE=ON ${ARGN}
                  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE status)
  message("${said}")
endmacro()

function(expect_in_output pattern)
  if(NOT said MATCHES "${pattern}")
    message(FATAL_ERROR "nothing matches: ${pattern}")
  endif()
endfunction()

function(expect_not_in_output pattern)
  if(said MATCHES "${pattern}")
    message(FATAL_ERROR "this should not be said: ${CMAKE_MATCH_0}")
  endif()
endfunction()

# Configuring succeeded, and one line about the GPU matches.
function(expect_gpu line)
  if(NOT status STREQUAL "0")
    message(FATAL_ERROR "configuring failed")
  endif()
  expect_not_in_output("CMake Error")
  expect_in_output("\n  gpu  +${line}\n")
  string(REGEX MATCHALL "\n  gpu " lines "${said}")
  list(LENGTH lines count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${count} lines about the GPU")
  endif()
endfunction()

# Nobody asked for a GPU: it is off, for this reason, without any ado.
function(expect_gpu_off reason)
  expect_gpu("off  ${reason}")
  expect_not_in_output("CMake Warning")
endfunction()

# Configuring failed, with one line that matches.
function(expect_failure line)
  if(status STREQUAL "0")
    message(FATAL_ERROR "configuring did not fail")
  endif()
  expect_in_output("\n *${line}\n")
endfunction()

# A machine with a GPU, as far as nvidia-smi is asked.
macro(use_fakes)
  set(ENV{PATH} "${FAKES}:$ENV{PATH}")
  set(ENV{FAKE_GPUS} 9.0)
endmacro()

# The nvcc of this machine; without one the case is skipped.
macro(find_real_nvcc)
  find_program(real_nvcc nvcc PATHS /usr/local/cuda/bin)
  if(NOT real_nvcc)
    message("skipped: no nvcc")
    return()
  endif()
endmacro()

function(WithoutAGpuItsCodeIsNotBuilt)
  use_fakes()
  set(ENV{FAKE_GPUS} "")
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE)
  expect_gpu_off("nvidia-smi finds no GPU; -DSTRATA_GPU=cuda or hip builds[^\n]*")
endfunction()

function(WithoutNvccTheGpuIsOff)
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE -DSTRATA_GPU=cuda
            -DCMAKE_FIND_ROOT_PATH=${FAKES} -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=ONLY)
  expect_gpu("off  nvcc not found[^\n]*")
endfunction()

function(AnOldNvccTurnsTheGpuOff)
  use_fakes()
  set(ENV{FAKE_NVCC_VERSION} 11.8.89)
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE)
  expect_gpu_off("nvcc 11\\.8\\.89 \\([^ \n]*/fakes/nvcc\\) is too old: CUDA 12\\.0 or later is needed")
endfunction()

# It compiles everything but 90a, as Debian's package does.
function(AnOldNvccThatCompilesTurnsTheGpuOff)
  find_real_nvcc()
  use_fakes()
  set(ENV{FAKE_NVCC_VERSION} 11.8.89)
  set(ENV{FAKE_NVCC_REAL} ${real_nvcc})
  configure(-DPARTS=StrataGpu -DLANGUAGES=CXX)
  expect_gpu_off("nvcc 11\\.8\\.89 [^\n]* is too old[^\n]*")
endfunction()

function(ABrokenNvccTurnsTheGpuOff)
  use_fakes()
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE)
  expect_gpu_off("[^ \n]*/fakes/nvcc does not answer as nvcc does")
endfunction()

function(AMissingNvccThatIsNamedTurnsTheGpuOff)
  use_fakes()
  set(ENV{CUDACXX} /nowhere/nvcc)
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE)
  expect_gpu_off("/nowhere/nvcc does not answer as nvcc does")
endfunction()

function(ARefusedHostCompilerTurnsTheGpuOff)
  use_fakes()
  set(ENV{FAKE_NVCC_VERSION} 12.0.76)
  set(ENV{FAKE_NVCC_ERROR} "In file included from /usr/include/cuda_runtime.h:83,
                 from <command-line>:
/usr/include/crt/host_config.h:132:2: error: #error -- unsupported GNU version! gcc versions later than 12 are not supported! The nvcc flag '-allow-unsupported-compiler' can be used to override this version check; however, using an unsupported host compiler may cause compilation failure or incorrect run time execution. Use at your own risk.")
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE -DCMAKE_CUDA_ARCHITECTURES=80)
  expect_gpu_off("nvcc 12\\.0\\.76 refuses the host compiler \\(GNU version! gcc versions later than 12 are not supported!\\): name another by CUDAHOSTCXX")
endfunction()

function(AHostCompilerThatTheRealNvccRefusesTurnsTheGpuOff)
  find_real_nvcc()
  use_fakes()
  set(ENV{CUDACXX} ${real_nvcc})
  set(ENV{CUDAHOSTCXX} ${FAKES}/g++-newer-than-nvcc)
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE)
  expect_gpu_off("nvcc [0-9.]+ refuses the host compiler \\([^\n]*gcc versions[^\n]*\\): name another by CUDAHOSTCXX")
endfunction()

function(WithoutTheStaticRuntimeTheGpuIsOff)
  use_fakes()
  set(ENV{FAKE_NVCC_VERSION} 12.4.131)
  set(ENV{FAKE_NVCC_ERROR} "/usr/bin/ld: cannot find -lcudart_static: No such file or directory
collect2: error: ld returned 1 exit status")
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE -DCMAKE_CUDA_ARCHITECTURES=80)
  expect_gpu_off("nvcc 12\\.4\\.131 [^\n]* without the static CUDA runtime \\(libcudart_static\\.a\\)")
endfunction()

function(AnUnknownArchitectureTurnsTheGpuOff)
  use_fakes()
  set(ENV{FAKE_NVCC_VERSION} 13.0.88)
  set(ENV{FAKE_NVCC_ERROR} "nvcc fatal   : Unsupported gpu architecture 'compute_61'")
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE -DCMAKE_CUDA_ARCHITECTURES=61)
  expect_gpu_off("nvcc 13\\.0\\.88 [^\n]* does not compile: Unsupported gpu architecture 'compute_61'")
endfunction()

# Whoever asks for a GPU gets a warning as well, of one line too.
function(CudaThatIsAskedForIsMissedInOneWarning)
  use_fakes()
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE -DSTRATA_GPU=cuda)
  expect_gpu("off  [^ \n]*/fakes/nvcc does not answer as nvcc does")
  expect_in_output("CMake Warning[^\n]*\n *STRATA_GPU is cuda, but there is no GPU code: [^ \n]*/fakes/nvcc does not answer as nvcc does\n")
endfunction()

function(ABrokenHipccTurnsTheGpuOff)
  use_fakes()
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE -DSTRATA_GPU=hip)
  expect_gpu("off  [^ \n]*/fakes/hipcc does not answer as hipcc does")
  expect_in_output("CMake Warning")
endfunction()

function(AnOldHipccTurnsTheGpuOff)
  use_fakes()
  set(ENV{FAKE_HIPCC_VERSION} 3.5.0-0)
  set(ENV{FAKE_HIPCC_ERROR} "error: invalid value 'c++20' in '-std=c++20'")
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE -DSTRATA_GPU=hip)
  expect_gpu("off  hipcc 3\\.5\\.0 \\([^ \n]*/fakes/hipcc\\) does not compile: invalid value 'c\\+\\+20' in '-std=c\\+\\+20'")
endfunction()

function(AnEmulatedGpuNeedsTheTestsAndBoost)
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE -DSTRATA_GPU=emulated -DSTRATA_BUILD_TESTS=OFF)
  expect_gpu("off  an emulated GPU is part of the tests, and STRATA_BUILD_TESTS is off")
  expect_in_output("CMake Warning")
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE -DSTRATA_GPU=emulated -DSTRATA_BUILD_TESTS=ON
            -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON)
  expect_gpu("off  an emulated GPU needs Boost\\.Context [^\n]*")
  expect_in_output("CMake Warning")
endfunction()

# choose(<architectures> <GPUs>): what is compiled for on a machine with these GPUs, by an nvcc that
# knows nothing after Hopper.
function(choose expected gpus)
  use_fakes()
  set(ENV{FAKE_NVCC_KNOWS} "50 60 70 75 80 86 89 90")
  set(ENV{FAKE_GPUS} "${gpus}")
  configure(-DPARTS=StrataGpu -DLANGUAGES=NONE -DSTRATA_GPU=off -DCHOOSE_BY=${FAKES}/nvcc ${ARGN})
  expect_in_output("architectures: ${expected}\n")
endfunction()

function(ArchitecturesFollowTheGpusAndNvcc)
  choose("90a-real;75-virtual" "")
  choose("90a-real" "9.0 9.0")
  choose("80-real;90a-real" "8.0 9.0")
  choose("90-virtual" "12.1")
  choose("86-virtual" "8.7")
  choose("90a-real;75-virtual" "6.1")
  choose("75-real;80-real;90a-real;90-virtual" "12.1" -DSTRATA_NATIVE=OFF)
endfunction()

# The nvcc of this machine and a GPU that it cannot know; and what a second run makes of it, in
# which the environment does not name nvcc any more.
function(TheRealNvccIsFoundAgain)
  find_real_nvcc()
  use_fakes()
  set(ENV{FAKE_GPUS} 99.9)
  set(ENV{CUDACXX} "${real_nvcc} -DARGUMENT=1")
  configure(-DPARTS=StrataGpu -DLANGUAGES=CXX -DSTRATA_GPU=cuda)
  expect_in_output("arguments of nvcc: -DARGUMENT=1")
  expect_gpu("on   CUDA [0-9.]+, for [0-9]+-virtual")
  string(REGEX MATCH "  gpu  [^\n]*" first "${said}")
  unset(ENV{CUDACXX})
  unset(ENV{FAKE_GPUS})
  configure()
  expect_in_output("arguments of nvcc: -DARGUMENT=1")
  expect_gpu("on   [^\n]*")
  string(FIND "${said}" "${first}\n" again)
  if(again EQUAL -1)
    message(FATAL_ERROR "the first run said: ${first}")
  endif()
endfunction()

function(MissingPackagesAreNamedInOneLine)
  configure(-DPARTS=StrataOptions -DLANGUAGES=CXX -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON
            -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON)
  expect_failure("Strata needs fmt \\(Debian package libfmt-dev\\), ZLIB \\(Debian package zlib1g-dev\\)")
endfunction()

function(ACompilerWithoutCxx20IsNamedInOneLine)
  set(ENV{CXX} ${FAKES}/g++-without-c++20)
  configure(-DPARTS=StrataOptions -DLANGUAGES=CXX)
  expect_failure("[^\n]*g\\+\\+-without-c\\+\\+20[^\n]*: g\\+\\+ 11 or later[^\n]*")
endfunction()

# use_petsc(<version> <lines of petscconf.h> <petscksp.h>): the one that pkg-config finds. Without
# pkg-config or MPI the case is skipped.
macro(use_petsc version conf ksp)
  find_program(pkg_config pkg-config)
  find_program(mpi_compiler NAMES mpicxx mpic++)
  if(NOT pkg_config OR NOT mpi_compiler)
    message("skipped: no MPI")
    return()
  endif()
  set(petsc ${WORK}-petsc)
  file(WRITE ${petsc}/petscconf.h "${conf}")
  file(WRITE ${petsc}/petscksp.h "${ksp}")
  file(WRITE ${petsc}/PETSc.pc
       "Name: PETSc\nDescription: -\nVersion: ${version}\nCflags: -I${petsc}\nLibs: -lm\n")
  set(ENV{PKG_CONFIG_PATH} "")
  set(ENV{PKG_CONFIG_LIBDIR} ${petsc})
endmacro()

# Configuring succeeded, and the line about PETSc matches.
function(expect_petsc line)
  if(NOT status STREQUAL "0")
    message(FATAL_ERROR "configuring failed")
  endif()
  expect_not_in_output("CMake (Error|Warning)")
  expect_in_output("\n  petsc  +${line}\n")
endfunction()

function(WithoutPetscItsPlugInIsOff)
  set(ENV{PKG_CONFIG_PATH} "")
  set(ENV{PKG_CONFIG_LIBDIR} ${WORK})
  configure(-DPARTS=StrataPetsc -DLANGUAGES=CXX)
  expect_petsc("off  PETSc not found \\(Debian package petsc-dev\\)")
endfunction()

function(TypesAndMpiOfPetscAreNamed)
  use_petsc(3.20.1
            "#define PETSC_USE_64BIT_INDICES 1\n#define PETSC_USE_COMPLEX 1\n#define PETSC_USE_REAL_SINGLE 1\n#define PETSC_HAVE_MPICH 1\n"
            "")
  configure(-DPARTS=StrataPetsc -DLANGUAGES=CXX)
  expect_petsc("on   PETSc 3\\.20\\.1, complex float, 64-bit integers, MPICH")
endfunction()

function(AnotherMpiTurnsPetscOff)
  use_petsc(3.20.1 "" "#error \"PETSc was configured with another MPI\"\n")
  configure(-DPARTS=StrataPetsc -DLANGUAGES=CXX)
  expect_petsc("off  PETSc 3\\.20\\.1 found, but \"PETSc was configured with another MPI\"")
endfunction()

function(APetscOfOtherNumbersIsOff)
  use_petsc(3.20.1 "#define PETSC_USE_REAL___FLOAT128 1\n" "")
  configure(-DPARTS=StrataPetsc -DLANGUAGES=CXX)
  expect_petsc("off  PETSc 3\\.20\\.1 found, but its numbers are neither double nor float")
endfunction()

function(AnOldPetscHasNoPlugIn)
  use_petsc(3.15.5 "" "")
  configure(-DPARTS=StrataPetsc -DLANGUAGES=CXX)
  expect_petsc("off  PETSc 3\\.15\\.5 is too old for the plug-in: 3\\.18 or later is needed")
endfunction()

cmake_language(CALL ${CASE})
file(REMOVE_RECURSE ${WORK})
