// The layers (ARCHITECTURE.md, "Layers"): each imports itself and the layers listed for it, nothing else. Types count
// like values; '(types)' allows only the types of a layer.

const settings = ['config', 'secrets', 'log']
const base = ['model', 'lib']

const layers = {
  main: ['cli'],
  cli: [
    'app',
    'jobs',
    'core',
    'context',
    'storage',
    'database',
    'channels',
    'blobs',
    'upstream',
    'storefront',
    'endpoints',
    'simulator',
    ...settings,
    ...base,
  ],
  app: [
    ...['interfaces', 'http', 'jobs', 'core', 'context', 'channels', 'storage', 'database', 'upstream', 'storefront'],
    ...['endpoints', 'blobs', 'transcription', 'tracing', ...settings, ...base],
  ],
  interfaces: ['http', 'core', 'context', ...base],
  http: ['core', 'context', 'database', 'upstream (types)', 'endpoints (types)', 'log', ...base],
  jobs: ['core', 'context', 'storage', 'database', 'log', ...base],
  core: [
    'context',
    'channels',
    'storage',
    'database',
    'upstream (types)',
    'storefront',
    'endpoints (types)',
    'blobs',
    ...base,
  ],
  context: [
    ...[
      'channels',
      'database',
      'upstream (types)',
      'transcription (types)',
      'storefront (types)',
      'endpoints (types)',
      'blobs',
      'config',
      'log',
      ...base,
    ],
  ],
  channels: ['upstream', ...base],
  storage: ['database', ...base],
  database: ['log', 'lib'],
  upstream: ['lib'],
  storefront: ['lib'],
  endpoints: ['lib'],
  blobs: ['lib'],
  transcription: ['lib'],
  secrets: ['config', 'lib'],
  log: ['config'],
  tracing: ['config', 'log', 'lib'],
  config: ['lib'],
  // What is refused before it is sent is what the upstream refuses.
  model: ['upstream/limits', 'upstream/template-limits', 'lib'],
  lib: [],
  simulator: ['upstream/wire', 'upstream/limits', 'upstream/template-limits', 'lib'],
}

// A layer is a folder or a file of src, such as src/lib/ or src/app.ts; the simulator has its own folder.
const pathOf = (layer) => (layer === 'simulator' ? '^simulator/' : `^src/${layer}(/|\\.ts$)`)
const ours = '^(src|simulator|test|bench|console)/'

const layerRules = Object.entries(layers).flatMap(([layer, below]) => {
  const typesOnly = below.filter((name) => name.endsWith(' (types)')).map((name) => name.replace(' (types)', ''))
  const open = below.filter((name) => !name.endsWith(' (types)'))
  const closed = { path: ours, pathNot: [layer, ...open, ...typesOnly].map(pathOf) }
  return [
    { name: `${layer}-imports-only-below`, severity: 'error', from: { path: pathOf(layer) }, to: closed },
    ...typesOnly.map((name) => ({
      name: `${layer}-sees-only-types-of-${name}`,
      severity: 'error',
      from: { path: pathOf(layer) },
      to: { path: pathOf(name), dependencyTypesNot: ['type-only'] },
    })),
  ]
})

// The folders of core and of storage, from top to bottom (ARCHITECTURE.md, "Layers"): each imports itself and, in its
// layer, the folders that follow it here.
const folders = [
  ...['callbacks', 'maintenance', 'live', 'inbox', 'scheduled', 'instances', 'analytics', 'broadcasts', 'templates'],
  ...['messages', 'conversations', 'media', 'contacts', 'storefront', 'webhooks', 'identity', 'numbers', 'jobs'],
  ...['events', 'organizations', 'counts', 'requests', 'processes'],
]

const folderRules = folders.map((folder, place) => ({
  name: `${folder}-imports-only-folders-below`,
  severity: 'error',
  from: { path: `^src/(core|storage)/${folder}/` },
  to: { path: '^src/$1/', pathNot: `^src/$1/(${folders.slice(place).join('|')})/` },
}))

module.exports = {
  forbidden: [
    ...layerRules,
    ...folderRules,
    {
      name: 'every-file-has-a-layer',
      comment: 'A new folder or file of src is listed above before it imports anything of ours',
      severity: 'error',
      from: { path: '^src/', pathNot: Object.keys(layers).map(pathOf) },
      to: { path: ours },
    },
    {
      name: 'interfaces-apart',
      comment: 'Interfaces never import each other; only the mount table sees them all',
      severity: 'error',
      from: { path: '^src/interfaces/([^/]+)/' },
      to: { path: '^src/interfaces/', pathNot: '^src/interfaces/$1/' },
    },
    {
      name: 'every-file-has-a-folder',
      comment: 'A new folder of core or storage is listed above before it imports anything of ours',
      severity: 'error',
      from: { path: '^src/(core|storage)/', pathNot: `^src/(core|storage)/(${folders.join('|')})/` },
      to: { path: ours },
    },
    {
      name: 'page-apart',
      comment: 'The page knows the shapes of what the service answers, and nothing else of it',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^(src|simulator|test|bench)/', pathNot: '^src/model/' },
    },
    {
      name: 'page-sees-only-types',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^src/model/', dependencyTypesNot: ['type-only'] },
    },
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'listed-packages-only',
      comment: 'What runs comes from dependencies, never from devDependencies or by way of another package',
      severity: 'error',
      from: { path: '^(src|simulator)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}
