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

/** Replaces CSS variables by their light values. */
export function withLightColors(svg: string): string {
  return svg.replace(/var\((--[a-z0-9]+)\)/g, (whole, name: string) => lightColors[name] ?? whole);
}
