import { Avatar, type CSSVariablesResolver, createTheme, Menu } from '@mantine/core'

/** How the page looks; everything else is the library's. Shades are chosen so that text on them has enough contrast. */
export const theme = createTheme({
  primaryColor: 'cyan',
  primaryShade: { light: 9, dark: 8 },
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  components: {
    Avatar: Avatar.extend({
      // Those whose letters can be read on their own tint.
      defaultProps: { allowedInitialsColors: ['pink', 'grape', 'violet', 'indigo', 'blue', 'cyan'] },
    }),
    // The placeholder is nothing that a menu may hold; the first item is given the focus instead.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
  },
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif',
})

/** Quiet text and complaints are dark (or light) enough to be read on tinted grounds too. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    // The library's own would be lighter, and white could not be read on it.
    '--mantine-color-cyan-filled-hover': '#095c6d',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    // Between two shades: white can be read on it, and it can be told from the ground.
    '--mantine-color-cyan-filled': '#0b7b8f',
    '--mantine-color-cyan-filled-hover': '#096a7b',
  },
})
