# What libpliant is linked with. Read by the build, and by the installed package where libpliant is static. Eigen is the
# only one whose headers ours include.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(METIS REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED QUIET IMPORTED_TARGET libhwy)
pkg_check_modules(OPENBLAS REQUIRED QUIET IMPORTED_TARGET openblas)
pkg_check_modules(TOMLPLUSPLUS REQUIRED QUIET IMPORTED_TARGET tomlplusplus)
