// Charts as drawings that follow the colours of the page, with values by pointer and keyboard.
import { html, useLayoutEffect, useRef, useState } from "../core/html.js";

const HEIGHT = 200;
const MIN_WIDTH = 240;
const MARGIN = { left: 52, right: 8, top: 10, bottom: 24 };

function useWidth() {
  const element = useRef(null);
  const [width, setWidth] = useState(MIN_WIDTH);
  // Before the first paint, so that no drawing is wider than the page.
  useLayoutEffect(() => {
    setWidth(Math.max(element.current.clientWidth, MIN_WIDTH));
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(entry.contentRect.width, MIN_WIDTH)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

// Round limits of the scale, at most five steps.
function steps(max, isWhole) {
  const rough = Math.max(max / 4, isWhole ? 1 : 1e-9);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  return Array.from({ length: Math.ceil(max / step) + 1 || 2 }, (_, index) => index * step);
}

// `kind` is "bars" (stacked) or "lines"; `series` are {label, values}; `buckets` are texts, `format` shows a value.
export function Chart({ title, kind, buckets, series, format }) {
  const [element, width] = useWidth();
  const [active, setActive] = useState(-1);
  const totals = buckets.map((_, at) => (kind === "bars" ? series.reduce((sum, { values }) => sum + values[at], 0) : Math.max(...series.map(({ values }) => values[at]), 0)));
  const ticks = steps(Math.max(...totals, 1), kind === "bars");
  const max = ticks.at(-1);
  const inner = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const band = inner.width / Math.max(buckets.length, 1);
  const x = (at) => MARGIN.left + band * (at + 0.5);
  const y = (value) => MARGIN.top + inner.height * (1 - value / max);
  const every = Math.max(Math.ceil(buckets.length / Math.max(Math.floor(inner.width / 74), 1)), 1);
  const move = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = Math.floor((event.clientX - box.left - MARGIN.left) / band);
    setActive(at >= 0 && at < buckets.length ? at : -1);
  };
  const key = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    setActive((at) => Math.min(Math.max(at + step, 0), buckets.length - 1));
  };
  return html`<figure class="chart" ref=${element}>
    <figcaption><span>${title}</span><span class="legend">${series.length > 1 && series.map(({ label }, at) => html`<span><i class=${`swatch series-${at % 6}`}></i>${label}</span>`)}</span></figcaption>
    <div class="plot">
      <svg width=${width} height=${HEIGHT} viewBox=${`0 0 ${width} ${HEIGHT}`} role="img" aria-label=${`${title}: chart, values with the arrow keys`} tabindex="0"
        onMouseMove=${move} onMouseLeave=${() => setActive(-1)} onKeyDown=${key} onBlur=${() => setActive(-1)}>
        ${ticks.map((tick) => html`<line class="grid" x1=${MARGIN.left} x2=${width - MARGIN.right} y1=${y(tick)} y2=${y(tick)} />
          <text class="tick" x=${MARGIN.left - 8} y=${y(tick) + 4} text-anchor="end">${format(tick)}</text>`)}
        ${buckets.map((bucket, at) => at % every === 0 && html`<text class="tick" x=${x(at)} y=${HEIGHT - 6} text-anchor="middle">${bucket}</text>`)}
        ${active >= 0 && html`<rect class="active" x=${x(active) - band / 2} y=${MARGIN.top} width=${band} height=${inner.height} />`}
        ${kind === "bars" ? bars({ series, buckets, x, y, band }) : lines({ series, buckets, x, y })}
      </svg>
      ${active >= 0 && html`<div class=${`tip ${active > buckets.length / 2 ? "tip-left" : ""}`} style=${{ left: `${x(active)}px` }} role="status">
        <strong>${buckets[active]}</strong>
        ${series.map(({ label, values }, at) => (values[active] > 0 || series.length < 4) && html`<div><i class=${`swatch series-${at % 6}`}></i>${label} <b>${format(values[active])}</b></div>`)}
      </div>`}
    </div>
  </figure>`;
}

function bars({ series, buckets, x, y, band }) {
  const width = Math.max(Math.min(band * 0.7, 36), 1);
  return buckets.map((_, at) => {
    let base = 0;
    return series.map(({ values }, index) => {
      const from = base;
      base += values[at];
      return values[at] > 0 && html`<rect class=${`bar series-${index % 6}`} x=${x(at) - width / 2} width=${width} y=${y(base)} height=${Math.max(y(from) - y(base), 1)} rx=${Math.min(width / 6, 3)} />`;
    });
  });
}

function lines({ series, buckets, x, y }) {
  return series.map(({ values }, index) => {
    const points = buckets.map((_, at) => `${x(at).toFixed(1)},${y(values[at]).toFixed(1)}`);
    return html`<polyline class=${`line series-${index % 6}`} points=${points.join(" ")} />`;
  });
}
