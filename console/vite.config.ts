import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compression } from 'vite-plugin-compression2'

// The service that `npm run dev` passes requests on to.
const service = 'http://127.0.0.1:8080'

// What every page needs, in two files that are compressed better than many small ones would be, and stay the same from one version of
// the page to the next. What is not named here goes where it is used.
const foundation =
  /node_modules\/(react|react-dom|scheduler|react-router|i18next|react-i18next|html-parse-stringify|@tanstack|@floating-ui|clsx)\//
const everywhere = [
  ...[
    'ActionIcon',
    'Affix',
    'Alert',
    'Anchor',
    'Avatar',
    'Badge',
    'Button',
    'Center',
    'CloseButton',
    'EmptyState',
    'Flex',
  ],
  ...[
    'FloatingIndicator',
    'Group',
    'Input',
    'InputBase',
    'InputClearButton',
    'Kbd',
    'Loader',
    'Menu',
    'Paper',
    'Popover',
    'Portal',
  ],
  ...['SegmentedControl', 'Skeleton', 'Stack', 'Text', 'TextInput', 'ThemeIcon', 'Title', 'Tooltip', 'Transition'],
  ...['UnstyledButton', 'VisuallyHidden'],
].join('|')
const library = new RegExp(`node_modules/@mantine/(hooks|store|core/esm/(core|utils|components/(${everywhere})))/`)

export default defineConfig({
  base: '/console/',
  plugins: [react(), compression({ algorithms: ['gzip', 'brotliCompress'], threshold: 1_024 })],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    // All of these know light-dark(); what replaces it for older ones does not follow the page's own choice of light or dark.
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    sourcemap: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'foundation', test: foundation },
            { name: 'library', test: library },
          ],
        },
      },
    },
  },
  server: { proxy: { '/console/api': service, '/media': service } },
})
