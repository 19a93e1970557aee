#pragma once

#include <string>
#include <string_view>

namespace pliant::test {

// What reaches the program besides meshes. Each throws InputError or does as it is told; nothing else may happen.

/// A scene file.
void read_scene_text(std::string_view text);
/// Changes by --set, one a line, to a scene with a bit of everything.
void read_changes(std::string_view text);
/// A selection, "x < 0.1 and y > 0".
void read_selection(std::string_view text);
/// A checkpoint's content; magic word and checksum are put around it, which a forger would do, too. What is read is
/// restored into a simulation.
void read_sealed_checkpoint(std::string_view content);
/// The same for a state saved in the viewer.
void read_sealed_state(std::string_view content);
/// Whole ones, to begin with.
std::string whole_checkpoint();
std::string whole_state();
/// Messages of a page, one a line, to a session with a small scene.
void read_messages(std::string_view text);
/// A frame of a film, as the viewer plays it.
void read_film(std::string_view frame);

}  // namespace pliant::test
