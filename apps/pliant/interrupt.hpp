#pragma once

namespace pliant::app {

/// Turns the first Ctrl-C (or SIGTERM) into a request that the run polls between steps; a second one ends the program.
void catch_interrupts();
bool interrupt_requested();

}  // namespace pliant::app
