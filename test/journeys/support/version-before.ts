import { execFile } from 'node:child_process'
import { access, cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { builtProgram } from './build.js'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

/**
 * The program of the version before this one, built from the commit that .ci/version-before names: resolves to the path
 * of its main.js. If the file is empty, there is no version before, and this version stands in for it. Null if this is
 * not a clone with its history.
 */
export async function versionBefore(): Promise<string | null> {
  const commit = (await readFile(join(repository, '.ci', 'version-before'), 'utf8')).trim()
  if (commit === '') return builtProgram()
  const isKnown = await run('git', ['cat-file', '-e', commit], { cwd: repository }).then(
    () => true,
    () => false,
  )
  if (!isKnown) return null
  const folder = join(repository, 'node_modules', '.cache', `parley-version-${commit.slice(0, 12)}`)
  const main = join(folder, 'dist', 'src', 'main.js')
  const isBuilt = await access(main).then(
    () => true,
    () => false,
  )
  if (!isBuilt) await build(commit, folder)
  return main
}

async function build(commit: string, folder: string): Promise<void> {
  await mkdir(join(repository, 'node_modules', '.cache'), { recursive: true })
  const growing = await mkdtemp(`${folder}-`)
  await run('bash', ['-c', 'git archive "$0" | tar -x -C "$1"', commit, growing], { cwd: repository })
  await useModules(growing)
  const bundler = join(repository, 'node_modules', 'rolldown', 'bin', 'cli.mjs')
  await run(process.execPath, [bundler, '--config'], { cwd: growing })
  // Its page is not looked at.
  await cp(join(await builtProgram(), '..', '..', 'console'), join(growing, 'dist', 'console'), { recursive: true })
  await rename(growing, folder).catch(() => rm(growing, { recursive: true, force: true }))
}

/** The same packages can be shared; others are installed. */
async function useModules(folder: string): Promise<void> {
  const [own, others] = await Promise.all([packagesOf(repository), packagesOf(folder)])
  if (own === others) return symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
  await run('npm', ['ci', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder })
}

/** The runtime packages that are locked, as text. */
async function packagesOf(folder: string): Promise<string> {
  const { packages } = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'))
  const locked = Object.entries<{ version?: string; dev?: boolean }>(packages)
  const names = locked.filter(([name, { dev }]) => name.startsWith('node_modules/') && !dev)
  return JSON.stringify(names.map(([name, { version }]) => [name, version]))
}
