"use strict";
/* For a world that draws nothing of its own. */

function makeView() {
  return function show() {};
}
