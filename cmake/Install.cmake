# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
#
# The engines as libraries for other programs: find_package(assay CONFIG COMPONENTS chip) and the target
# assay::chip. The programs install themselves (src/cli). examples/libraries uses it, tests/install tries it.
include(CMakePackageConfigHelpers)
set(exported assay_highway)
set_target_properties(assay_highway PROPERTIES EXPORT_NAME highway)
foreach(library base tensor kernels semiring_problem semiring_simd semiring einsum transport chip egraph compiler)
  set_target_properties(assay_${library} PROPERTIES EXPORT_NAME ${library})
  list(APPEND exported assay_${library})
endforeach()
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
install(TARGETS ${exported} EXPORT assay
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay)
install(EXPORT assay NAMESPACE assay:: FILE assayTargets.cmake DESTINATION ${package})
configure_package_config_file(cmake/assayConfig.cmake.in ${PROJECT_BINARY_DIR}/assayConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/assayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/assayConfig.cmake ${PROJECT_BINARY_DIR}/assayConfigVersion.cmake
  DESTINATION ${package})
