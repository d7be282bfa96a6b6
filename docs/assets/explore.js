// "Explore in 3D" for drawings of points in space. Plotly, 0.6 MB, is loaded from this site on the first click.
(() => {
  const plotlyUrl = new URL("plotly/plotly-gl3d.min.js", document.currentScript.src).href;
  const symbols = ["circle-open", "square", "diamond", "cross"];
  let plotlyLoading;

  const loadPlotly = () => {
    plotlyLoading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      Object.assign(script, { src: plotlyUrl, onload: resolve, onerror: reject });
      document.head.append(script);
    });
    return plotlyLoading;
  };

  // Plotly wants a list for each axis. A missing point interrupts a line.
  const scatterTrace = (points) => {
    const [x, y, z] = [0, 1, 2].map((axis) => points.map((point) => point?.[axis] ?? null));
    return { type: "scatter3d", x, y, z };
  };

  // The points of a set, and for an outlined set a line between any two of them.
  const tracesOf = ({ name, coordinates, labels, outlined }, color, symbol) => {
    const points = {
      ...scatterTrace(coordinates),
      mode: "markers+text",
      name,
      text: labels,
      textfont: { color },
      marker: { color, size: 5, symbol },
      hovertemplate: "%{text}: %{x}, %{y}, %{z}<extra></extra>",
    };
    if (!outlined) return [points];
    const edges = coordinates.flatMap((start, i) => coordinates.slice(i + 1).map((end) => [start, end, null]));
    const outline = {
      ...scatterTrace(edges.flat()),
      mode: "lines",
      line: { color, width: 2, dash: "dash" },
      hoverinfo: "skip",
      showlegend: false,
    };
    return [outline, points];
  };

  const drawPlot = (container, { axes, sets }) => {
    const style = getComputedStyle(document.body);
    const textColour = style.getPropertyValue("--md-default-fg-color").trim();
    const axisStyle = { color: textColour, gridcolor: "#888888", zeroline: false };
    const scene = { aspectmode: "data", camera: { eye: { x: 1.3, y: -1.9, z: 1.1 } } };
    ["xaxis", "yaxis", "zaxis"].forEach((axis, i) => {
      scene[axis] = { ...axisStyle, title: { text: axes[i] } };
    });
    const layout = {
      scene,
      font: { color: textColour },
      legend: { orientation: "h" },
      margin: { l: 0, r: 0, t: 0, b: 0 },
      paper_bgcolor: "transparent",
    };
    const traces = sets.flatMap((set, i) => {
      const colour = style.getPropertyValue(`--role-${set.role}`).trim();
      return tracesOf(set, colour, symbols[i % symbols.length]);
    });
    return Plotly.react(container, traces, layout, { displayModeBar: false, responsive: true });
  };

  const openPlot = async (drawing, button) => {
    button.disabled = true;
    try {
      await loadPlotly();
    } catch {
      plotlyLoading = undefined;
      button.textContent = "Plotly cannot be loaded; try again";
      return;
    } finally {
      button.disabled = false;
    }
    const container = document.createElement("div");
    container.className = "space";
    container.setAttribute("role", "img");
    container.setAttribute("aria-label", drawing.querySelector("title").textContent);
    drawing.style.display = "none";
    drawing.after(container);
    button.textContent = "Back to the drawing";
    await drawPlot(container, JSON.parse(drawing.dataset.points));
  };

  const closePlot = (drawing, container, button) => {
    Plotly.purge(container);
    container.remove();
    drawing.style.display = "";
    button.textContent = "Explore in 3D";
  };

  const addButtons = () => {
    document.querySelectorAll("svg[data-points]:not([data-ready])").forEach((drawing) => {
      drawing.dataset.ready = "";
      const button = document.createElement("button");
      Object.assign(button, { className: "explore", type: "button", textContent: "Explore in 3D" });
      button.addEventListener("click", () => {
        // An open plot stands between the drawing and the button.
        const next = drawing.nextElementSibling;
        return next === button ? openPlot(drawing, button) : closePlot(drawing, next, button);
      });
      drawing.after(button);
    });
  };
  window.attentionDocs.onArrival(addButtons);
  // Draw the plots again when the colour scheme changes.
  new MutationObserver(() => {
    document.querySelectorAll(".space").forEach((container) => {
      drawPlot(container, JSON.parse(container.previousElementSibling.dataset.points));
    });
  }).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  addButtons();
})();
