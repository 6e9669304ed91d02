// Sorts and filters the tables of episodes. What the rows are sorted by stands in the data block, in the rows' order.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);

  // Undefined values come last in either direction; names with numbers in them come in the order of the numbers.
  const compared = new Intl.Collator("en", { numeric: true });
  function compare(one, other, sign) {
    if (one === null || other === null) return (one === null) - (other === null);
    return sign * (typeof one === "string" ? compared.compare(one, other) : one - other);
  }

  for (const table of document.querySelectorAll("table.episodes")) {
    const values = data[table.dataset.world];
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    const form = document.querySelector(`form.filters[data-world="${table.dataset.world}"]`);
    const shown = form.elements.shown;

    function filter() {
      const condition = form.elements.condition.value;
      const scenario = form.elements.scenario.value.trim().toLowerCase();
      const outcome = form.elements.outcome.value;
      let count = 0;
      rows.forEach((row, index) => {
        const [key, name, end] = values[index];
        const visible =
          (!condition || key === condition) &&
          (!scenario || name.toLowerCase().includes(scenario)) &&
          (!outcome || end === outcome);
        if (row.hidden === visible) row.hidden = !visible;
        count += visible;
      });
      const all = rows.length.toLocaleString("en");
      shown.value = count === rows.length ? `${all} episodes` : `${count.toLocaleString("en")} of ${all} episodes`;
    }

    function sort(button) {
      const head = button.closest("th");
      const falls = head.getAttribute("aria-sort") === "ascending";
      const by = Number(button.dataset.by);
      const order = rows.map((_, index) => index);
      order.sort((a, b) => compare(values[a][by], values[b][by], falls ? -1 : 1) || a - b);
      for (const each of table.tHead.querySelectorAll("th")) each.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      const sorted = document.createDocumentFragment();
      for (const index of order) sorted.append(rows[index]);
      body.append(sorted);
    }

    for (const button of table.tHead.querySelectorAll("button")) button.addEventListener("click", () => sort(button));
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(filter));
    // A browser that comes back to the page may have kept what was chosen.
    filter();
  }
})();
