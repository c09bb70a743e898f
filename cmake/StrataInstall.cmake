# `cmake --install` puts the library, its headers and the files behind find_package(strata) in place.

include(CMakePackageConfigHelpers)

install(TARGETS strata EXPORT strataTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/strata ${PROJECT_BINARY_DIR}/generated/strata
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "internal" EXCLUDE)
install(EXPORT strataTargets NAMESPACE strata::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/strata)
# In a file of its own: whoever does not ask for the GPU library needs no GPU's runtime.
if(TARGET strata_gpu AND NOT STRATA_GPU_API STREQUAL "emulated")
  install(TARGETS strata_gpu EXPORT strataGpuTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT strataGpuTargets NAMESPACE strata::
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/strata)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/strataConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/strataConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/strata)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/strataConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/strataConfig.cmake
              ${PROJECT_BINARY_DIR}/strataConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/strata)
