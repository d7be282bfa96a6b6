// Draws the heads of a sentence that the reader typed, as attention_docs/figures/course_at_full_size.py draws the
// recorded ones.

// The opacities of a small picture, and from which weight in percent on they begin.
const SHADES = [[0.4, 20, 49], [1, 50, 100]];
// The side of a small picture in pixels, and how many cells are free between two.
const SIDE = 21.8;
const GAP = 3;
// Of the enlarged head, in pixels.
const [UPWARDS, BOX_OPACITY, LINE_OPACITY] = [-90, 0.5, 0.3]; // the first in degrees
const [CELL_WIDTH, CELL_HEIGHT, LINE, CHARACTER, LABEL_MARGIN, LABEL_GAP, FONT_SIZE] = [21, 20, 16, 7, 8, 6, 12];

/** @param {string} text */
export const escapeText = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Return the rows of a head in percent, each up to the diagonal. @param {string} packed @param {number} length */
export const rowsOf = (packed, length) => {
  const percents = [...atob(packed)].map((byte) => byte.charCodeAt(0));
  return Array.from({ length }, (_, row) => percents.splice(0, row + 1));
};

/** @param {string[]} tokens @param {number[]} ids */
export const tokensAndIds = (tokens, ids) => tokens.map((token, i) => `<span>${escapeText(token)}<small>${ids[i]}</small></span>`).join("");

/** Return a row of a list for each of the likeliest next tokens. @param {[string, number][]} next */
export const bars = (next) =>
  next.map(([token, share]) => `<div style="--share: ${share}"><dt>${escapeText(token)}</dt><dd><i></i><span>${share.toFixed(3)}</span></dd></div>`).join("");

/** Return the group that the small pictures of all layers stand in. @param {number} length */
export const smallPictures = (length) =>
  `<g transform="scale(${SIDE / (length + GAP)})" fill="none" stroke="var(--role-weights, #d6409f)"><g transform="translate(${GAP / 2 + 0.5} ${GAP / 2})"></g></g>`;

/** Draw the small pictures of a layer, one path for each shade. Adjacent cells of a column are one line. @param {string[]} percent the packed heads @param {number} layer @param {number} length */
export const smallLayer = (percent, layer, length) =>
  SHADES.map(([opacity, from, to]) => {
    const lines = percent.flatMap((packed, head) => {
      const rows = rowsOf(packed, length);
      const [x, y] = [layer, head].map((place) => place * (length + GAP));
      return rows.flatMap((row, i) =>
        row.flatMap((weight, j) => {
          /** @param {number} at */
          const isShaded = (at) => rows[at]?.[j] >= from && rows[at][j] <= to;
          if (!isShaded(i) || (i > j && isShaded(i - 1))) return [];
          let end = i;
          while (isShaded(end)) end++;
          return [`M${x + j} ${y + i}v${end - i}`];
        })
      );
    });
    return `<path d="${lines.join("")}" stroke-opacity="${opacity}"/>`;
  }).join("");

/** Frame the small pictures of some heads, and cross out others. @param {{ layer: number, head: number }[]} framed @param {{ layer: number, head: number }[]} crossed */
export const marks = (framed, crossed) => {
  /** @param {{ layer: number, head: number }} place @param {string} lines */
  const at = ({ layer, head }, lines) => `M${SIDE * layer} ${SIDE * head}${lines}`;
  const frames = framed.map((place) => at(place, `h${SIDE}v${SIDE}h-${SIDE}z`));
  const crosses = crossed.map((place) => at(place, `l${SIDE} ${SIDE}m0-${SIDE}l-${SIDE} ${SIDE}`));
  return `<path d="${[...frames, ...crosses].join("")}" fill="none" stroke="currentColor"/>`;
};

/** Draw the cells, the tokens and the lines of an enlarged head, whose numbers the script of the figure writes. @param {string[]} tokens */
export const enlargedHead = (tokens) => {
  const n = tokens.length;
  const margin = Math.max(...tokens.map((token) => CHARACTER * [...token].length)) + LABEL_MARGIN;
  const [left, top] = [LINE + margin, 1.4 * LINE];
  const [right, bottom] = [left + CELL_WIDTH * n, top + CELL_HEIGHT * n];
  const [width, height] = [right + 2, bottom + margin + LINE];
  const cells = tokens.flatMap((_, i) => tokens.slice(0, i + 1).map((_, j) => [left + CELL_WIDTH * j, top + CELL_HEIGHT * i]));
  /** @param {number} x @param {number} y @param {string} text @param {string} more */
  const label = (x, y, text, more = "") => `<text x="${x}" y="${y + 4}"${more}>${escapeText(text)}</text>`;
  /** @param {number} x @param {number} y @param {string} text @param {string} more */
  const upwards = (x, y, text, more = "") => label(x, y, text, `${more} transform="rotate(${UPWARDS} ${x} ${y})"`);
  const end = ' text-anchor="end"';
  return [
    `<svg class="drawing" role="img" overflow="visible" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-size="${FONT_SIZE}" text-anchor="middle" fill="currentColor">`,
    '<title></title><desc></desc>',
    label((left + right) / 2, LINE / 2, "", ' font-weight="bold" fill="var(--role-weights, #d6409f)"'),
    '<g class="boxes" fill="var(--fill-weights, #d6409f)">',
    ...cells.map(([x, y]) => `<path d="M${x} ${y}h${CELL_WIDTH}v${CELL_HEIGHT}h-${CELL_WIDTH}z" fill-opacity="${BOX_OPACITY}"/>`),
    '</g><g class="numbers">',
    ...cells.map(([x, y]) => label(x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2, "")),
    `</g><path fill="none" stroke="currentColor" stroke-opacity="${LINE_OPACITY}" d="`,
    ...cells.map(([x, y]) => `M${x} ${y}h${CELL_WIDTH}v${CELL_HEIGHT}h-${CELL_WIDTH}z`),
    '"/>',
    ...tokens.map((token, i) => label(left - LABEL_GAP, top + CELL_HEIGHT * (i + 0.5), token, end)),
    ...tokens.map((token, j) => upwards(left + CELL_WIDTH * (j + 0.5), bottom + 6, token, end)),
    upwards(LINE / 2, (top + bottom) / 2, "asks"),
    label((left + right) / 2, bottom + margin + LINE / 2, "is asked"),
    "</svg>",
  ].join("");
};
