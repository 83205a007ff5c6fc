import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const cache = join(repository, 'node_modules', '.cache')
const prefix = 'parley-journeys-'
const page = ['console/src', 'console/public', 'console/index.html', 'console/package.json', 'console/vite.config.ts']
const sources = [
  'src',
  'simulator',
  'migrations',
  'docs',
  ...page,
  'package.json',
  'tsconfig.json',
  'rolldown.config.js',
]
const hourMs = 60 * 60 * 1_000

let built: Promise<string> | undefined

/**
 * The compiled program of the sources as they are, laid out as it is installed: resolves to the path of its main.js.
 * Test files and runs with the same sources share it; `dist` may be stale, or be made anew while processes run from it.
 */
export function builtProgram(): Promise<string> {
  built ??= build()
  return built
}

async function build(): Promise<string> {
  const folder = join(cache, `${prefix}${await digestOfSources()}`)
  const program = join(folder, 'dist', 'src', 'main.js')
  if (await exists(program)) {
    await utimes(folder, new Date(), new Date()) // in use: not to be removed as old
    return program
  }
  await mkdir(cache, { recursive: true })
  await removeOldBuilds()
  const growing = await mkdtemp(join(cache, `${prefix}new-`))
  await compileInto(join(growing, 'dist'))
  await cp(join(repository, 'package.json'), join(growing, 'package.json'))
  for (const folder of ['migrations', 'docs']) {
    await cp(join(repository, folder), join(growing, folder), { recursive: true })
  }
  // Another test file may have been faster: then its build stays.
  await rename(growing, folder).catch(() => rm(growing, { recursive: true, force: true }))
  return program
}

async function digestOfSources(): Promise<string> {
  const hash = createHash('sha256')
  for (const source of sources) {
    for (const path of await filesOf(source)) hash.update(`${path}\0`).update(await readFile(join(repository, path)))
  }
  return hash.digest('hex').slice(0, 16)
}

async function filesOf(source: string): Promise<string[]> {
  if ((await stat(join(repository, source))).isFile()) return [source]
  const entries = await readdir(join(repository, source), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(repository.length))
    .sort()
}

/** A `dist` that is up to date is copied: to build the page takes both processors for seconds. Types are checked elsewhere. */
async function compileInto(folder: string): Promise<void> {
  if (await isDistCurrent()) return cp(join(repository, 'dist'), folder, { recursive: true })
  const modules = join(repository, 'node_modules')
  await run([join(modules, 'rolldown', 'bin', 'cli.mjs'), '--config', '--dir', folder], repository)
  const page = [join(modules, 'vite', 'bin', 'vite.js'), 'build', '--logLevel', 'error']
  await run([...page, '--outDir', join(folder, 'console')], join(repository, 'console'))
}

/** Builds for production, as for an installation: in development, the page uses other builds of its libraries. */
function run(args: string[], cwd: string): Promise<unknown> {
  return promisify(execFile)(process.execPath, args, { cwd, env: { ...process.env, NODE_ENV: 'production' } })
}

function isDistCurrent(): Promise<boolean> {
  return promisify(execFile)('bash', ['-c', 'root=$0; . "$root/bin/_build"; is_built', repository]).then(
    () => true,
    () => false,
  )
}

async function removeOldBuilds(): Promise<void> {
  for (const name of await readdir(cache)) {
    if (!name.startsWith(prefix)) continue
    const { mtimeMs } = await stat(join(cache, name))
    if (Date.now() - mtimeMs > hourMs) await rm(join(cache, name), { recursive: true, force: true })
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
