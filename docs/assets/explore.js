// "Explore in 3D" for points in space. Plotly, 0.6 MB, is loaded from this site on the first click.
(() => {
  const library = new URL("plotly/plotly-gl3d.min.js", document.currentScript.src).href;
  const symbols = ["circle", "square", "diamond", "cross"];
  let loading;

  const load = () => {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      Object.assign(script, { src: library, onload: resolve, onerror: reject });
      document.head.append(script);
    });
    return loading;
  };

  const coordinates = (points) => {
    const [x, y, z] = [0, 1, 2].map((axis) => points.map((point) => point?.[axis] ?? null));
    return { type: "scatter3d", x, y, z };
  };

  // The points of a set, and for an outlined set a line between any two of them.
  const traces = (colour) => ({ name, places, labels, role, outlined }, index) => {
    const color = colour(`--role-${role}`);
    const points = {
      ...coordinates(places),
      mode: "markers+text",
      name,
      text: labels,
      textfont: { color },
      marker: { color, size: 5, symbol: symbols[index % symbols.length] },
      hovertemplate: "%{text}: %{x}, %{y}, %{z}<extra></extra>",
    };
    const pairs = places.flatMap((a, i) => places.slice(i + 1).flatMap((b) => [a, b, null]));
    const edges = {
      ...coordinates(pairs),
      mode: "lines",
      line: { color, width: 2, dash: "dash" },
      hoverinfo: "skip",
      showlegend: false,
    };
    return outlined ? [edges, points] : [points];
  };

  const plot = (space, { axes, sets }) => {
    const style = getComputedStyle(document.body);
    const colour = (name) => style.getPropertyValue(name).trim();
    const grid = { color: colour("--md-default-fg-color"), gridcolor: "#888888", zeroline: false };
    const scene = { aspectmode: "data", camera: { eye: { x: 1.3, y: -1.9, z: 1.1 } } };
    ["xaxis", "yaxis", "zaxis"].forEach((axis, i) => {
      scene[axis] = { ...grid, title: { text: axes[i] } };
    });
    const layout = {
      scene,
      font: { color: colour("--md-default-fg-color") },
      legend: { orientation: "h" },
      margin: { l: 0, r: 0, t: 0, b: 0 },
      paper_bgcolor: "transparent",
    };
    return Plotly.react(space, sets.flatMap(traces(colour)), layout, {
      displayModeBar: false,
      responsive: true,
    });
  };

  const explore = async (drawing, button) => {
    button.disabled = true;
    try {
      await load();
    } catch {
      loading = undefined;
      button.textContent = "Plotly cannot be loaded; try again";
      return;
    } finally {
      button.disabled = false;
    }
    const space = document.createElement("div");
    space.className = "space";
    space.setAttribute("role", "img");
    space.setAttribute("aria-label", drawing.querySelector("title").textContent);
    drawing.style.display = "none";
    drawing.after(space);
    button.textContent = "Back to the drawing";
    await plot(space, JSON.parse(drawing.dataset.points));
  };

  const close = (drawing, space, button) => {
    Plotly.purge(space);
    space.remove();
    drawing.style.display = "";
    button.textContent = "Explore in 3D";
  };

  const prepare = () => {
    document.querySelectorAll("svg[data-points]:not([data-ready])").forEach((drawing) => {
      drawing.dataset.ready = "";
      const button = document.createElement("button");
      Object.assign(button, { className: "explore", type: "button", textContent: "Explore in 3D" });
      button.addEventListener("click", () => {
        const space = button.previousElementSibling;
        return space === drawing ? explore(drawing, button) : close(drawing, space, button);
      });
      drawing.after(button);
    });
  };
  // Watch for pages from instant navigation, and for changes of the colour scheme.
  new MutationObserver(prepare).observe(document.body, { childList: true, subtree: true });
  new MutationObserver(() => {
    document.querySelectorAll(".space").forEach((space) => {
      plot(space, JSON.parse(space.previousElementSibling.dataset.points));
    });
  }).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  prepare();
})();
