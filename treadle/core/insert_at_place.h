/// Lists whose items say where they stand, so that the order in which they register does not matter.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace treadle {

/// Inserts an item behind those whose `place` is no larger.
template <class Item>
void insert_at_place(std::vector<Item>& items, Item item) {
  auto after =
      std::find_if(items.begin(), items.end(), [&](const Item& other) { return other.place > item.place; });
  items.insert(after, std::move(item));
}

}  // namespace treadle
