import { Avatar, Badge, type CSSVariablesResolver, createTheme, Menu } from '@mantine/core'

/** The theme; the rest is the library's default. Shades are chosen for sufficient contrast. */
export const theme = createTheme({
  primaryColor: 'cyan',
  primaryShade: { light: 9, dark: 8 },
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  components: {
    Avatar: Avatar.extend({
      // Colours whose text is readable on their own tint.
      defaultProps: { allowedInitialsColors: ['pink', 'grape', 'violet', 'indigo', 'blue', 'cyan'] },
    }),
    Badge: Badge.extend({ defaultProps: { tt: 'none' } }),
    // The focus placeholder is not a valid child of a menu. The first item gets the focus instead.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
  },
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif',
})

/** Dimmed text and errors are readable on tinted backgrounds too. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    // The library's colour is lighter: white text on it would have too little contrast.
    '--mantine-color-cyan-filled-hover': '#095c6d',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    // Between two shades: readable under white text, and distinct from the background.
    '--mantine-color-cyan-filled': '#0b7b8f',
    '--mantine-color-cyan-filled-hover': '#096a7b',
  },
})
