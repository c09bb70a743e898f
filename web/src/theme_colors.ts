// Colours of figures that leave the page.

/** The light colours, for files that have no style sheet. They are those of style.css; a test compares. */
export const lightColors: Record<string, string> = {
  '--ink': '#1b1f24',
  '--muted': '#5c6570',
  '--grid': '#e6e8eb',
  '--edge': '#d5d9de',
  '--card': '#ffffff',
  '--s1': '#0b5fa5',
  '--s2': '#d9720b',
  '--s3': '#4596cc',
  '--s4': '#0f8f6a',
  '--s5': '#b5548f',
  '--s6': '#8a6d00',
  '--s7': '#7a5fc7',
  '--s8': '#7b838c',
  '--band': '#dcebf7',
  '--h0': '#f1f5f9',
  '--h1': '#d3e3f1',
  '--h2': '#a9cbe6',
  '--h3': '#74aad6',
  '--h4': '#3f86c0',
  '--h5': '#1b639f',
  '--h6': '#0b4173',
};

/** The same in the dark. */
export const darkColors: Record<string, string> = {
  '--ink': '#e8eaed',
  '--muted': '#9aa4af',
  '--grid': '#2c323a',
  '--edge': '#3a414a',
  '--card': '#1c2026',
  '--s1': '#7cbcfa',
  '--s2': '#f0983f',
  '--s3': '#3f80b8',
  '--s4': '#36bd92',
  '--s5': '#dd86bb',
  '--s6': '#cfb13f',
  '--s7': '#a593ea',
  '--s8': '#98a1ab',
  '--band': '#22374a',
  '--h0': '#20262d',
  '--h1': '#1d3850',
  '--h2': '#1c4f78',
  '--h3': '#246ba3',
  '--h4': '#3d8bca',
  '--h5': '#74b1e4',
  '--h6': '#c2dff6',
};

/** Replaces CSS variables by their light values. */
export function withLightColors(svg: string): string {
  return svg.replace(/var\((--[a-z0-9]+)\)/g, (whole, name: string) => lightColors[name] ?? whole);
}

/**
 * Rules that make a file with light colours dark where the reader's system is. They go by the
 * colours themselves, so that programs that know neither variables nor media queries show the light
 * ones.
 */
export function darkRules(svg: string): string {
  const rules = Object.entries(lightColors).flatMap(([name, light]) =>
    ['fill', 'stroke']
      .filter((property) => svg.includes(`${property}="${light}"`))
      .map((property) => `[${property}="${light}"]{${property}:${darkColors[name]}}`),
  );
  return `@media (prefers-color-scheme:dark){${rules.join('')}}`;
}
