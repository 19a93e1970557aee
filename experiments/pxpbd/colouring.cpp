#include "experiments/pxpbd/pxpbd.hpp"
