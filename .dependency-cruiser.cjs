// The rooms of the house (ARCHITECTURE.md, "Rooms"): each imports itself and what is listed beside it, nothing else.
// Types count like values, except where '(types)' opens a room to types only.

const settings = ['config', 'secrets', 'log']
const ground = ['model', 'lib']

const rooms = {
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
    ...ground,
  ],
  app: [
    ...['interfaces', 'http', 'jobs', 'core', 'context', 'channels', 'storage', 'database', 'upstream', 'storefront'],
    ...['endpoints', 'blobs', 'transcription', ...settings, ...ground],
  ],
  interfaces: ['http', 'core', 'context', ...ground],
  http: ['core', 'context', 'database', 'log', ...ground],
  jobs: ['core', 'context', 'database', 'log', ...ground],
  core: [
    'context',
    'channels',
    'storage',
    'database',
    'upstream (types)',
    'storefront',
    'endpoints (types)',
    'blobs',
    ...ground,
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
      ...ground,
    ],
  ],
  channels: ['upstream', ...ground],
  storage: ['database', ...ground],
  database: ['log', 'lib'],
  upstream: ['lib'],
  storefront: ['lib'],
  endpoints: ['lib'],
  blobs: ['lib'],
  transcription: ['lib'],
  secrets: ['config', 'lib'],
  log: ['config'],
  config: [],
  model: ['lib'],
  lib: [],
  simulator: ['upstream/wire', 'lib'],
}

// A room is a folder of src or a file beside it, such as src/lib/ or src/app.ts; the simulator has its own.
const pathOf = (room) => (room === 'simulator' ? '^simulator/' : `^src/${room}(/|\\.ts$)`)
const ours = '^(src|simulator|test|bench|console)/'

const roomRules = Object.entries(rooms).flatMap(([room, below]) => {
  const typesOnly = below.filter((name) => name.endsWith(' (types)')).map((name) => name.replace(' (types)', ''))
  const open = below.filter((name) => !name.endsWith(' (types)'))
  const closed = { path: ours, pathNot: [room, ...open, ...typesOnly].map(pathOf) }
  return [
    { name: `${room}-imports-only-below`, severity: 'error', from: { path: pathOf(room) }, to: closed },
    ...typesOnly.map((name) => ({
      name: `${room}-sees-only-types-of-${name}`,
      severity: 'error',
      from: { path: pathOf(room) },
      to: { path: pathOf(name), dependencyTypesNot: ['type-only'] },
    })),
  ]
})

module.exports = {
  forbidden: [
    ...roomRules,
    {
      name: 'every-file-has-a-room',
      comment: 'A new folder or file of src is listed above before it imports anything of ours',
      severity: 'error',
      from: { path: '^src/', pathNot: Object.keys(rooms).map(pathOf) },
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
