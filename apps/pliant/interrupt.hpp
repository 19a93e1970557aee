#pragma once

namespace pliant::app {

/// Turns the first Ctrl-C (or SIGTERM, or the end of its terminal) into a request that the run polls between steps; a
/// second one ends the program. What it prints from here on may have no reader.
/// `notice` is a literal: what a person is told.
void catch_interrupts(const char* notice = "\nfinishing this step and saving; press Ctrl-C again to quit at once\n");
bool interrupt_requested();

}  // namespace pliant::app
