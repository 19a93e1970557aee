#pragma once

#include "pliant/base/step_control.hpp"

namespace pliant::python {

/// While it lives, Ctrl-C can end a step that is under way on the main thread, and not only what comes after it: Python
/// itself looks for signals between its own instructions, of which there are none within a step. A step that has not
/// taken a second yet ends by itself; one that has, or a second Ctrl-C, is left at once, with the state as it was
/// before.
///
/// Only where SIGINT does what Python makes it do, raise KeyboardInterrupt: who has a handler of their own is asked
/// after the step, as ever. Needs the interpreter's lock to be made.
class StepInterrupts {
 public:
  StepInterrupts();
  StepInterrupts(const StepInterrupts&) = delete;
  StepInterrupts& operator=(const StepInterrupts&) = delete;
  ~StepInterrupts();

  /// For the step; null where nothing can interrupt it.
  StepControl* control() { return is_on_ ? &control_ : nullptr; }
  /// Before each step of several.
  void begin_step();

 private:
  StepControl control_;
  bool is_on_ = false;
};

}  // namespace pliant::python
