import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compression } from 'vite-plugin-compression2'

// The service that `npm run dev` proxies requests to.
const service = 'http://127.0.0.1:8080'

// Libraries of every page, in two files: they compress better than many small ones, and browsers keep them from version
// to version. Other libraries go to the chunks that use them.
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
    // All of these support light-dark(). Its fallback for older browsers would ignore the page's own choice of light or
    // dark.
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
