// Packs the checkout, installs the package as docs/install.md says, and runs it there: `up` sends a message, `serve` finds it again,
// `--version` tells the package's, an upgrade leaves the page of a running process as it is. Then the checkout with the packages
// alone that the service runs with: what was built runs as it is. Prints a line for each step, and fails at the first that is not
// as it should be.
import { strict as assert } from 'node:assert'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const scratch = mkdtempSync(join(tmpdir(), 'parley-package-'))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** As the unit of systemd starts it, by the link to the version in use. */
const PROGRAM = join(scratch, 'parley/dist/src/main.js')
const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PARLEY|npm)_/.test(name)))

try {
  const archive = pack()
  const folder = install(archive)
  await upAndServe()
  await upgrade(folder)
  runBuilt()
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
}

function pack() {
  run('npm', ['pack', '--silent', '--pack-destination', scratch], root)
  const archive = join(scratch, `parley-${version}.tgz`)
  const files = run('tar', ['-tzf', archive], scratch).split('\n')
  for (const wanted of [
    'dist/src/main.js',
    'dist/console/index.html',
    'migrations/0001_schema.sql',
    'deploy/systemd/parley.service',
    'deploy/nginx/parley.conf',
    'npm-shrinkwrap.json',
  ])
    assert(files.includes(`package/${wanted}`), `${wanted} is not in the package`)
  const unwanted = files.filter((file) =>
    /^package\/(bin|test|bench|src|console|dist\/(bench|scripts|test))\//.test(file),
  )
  assert.deepEqual(unwanted, [], 'the package holds what is of no use in it')
  assert(!existsSync(join(root, 'npm-shrinkwrap.json')), 'npm-shrinkwrap.json would hide package-lock.json')
  say('packed')
  return archive
}

function install(archive) {
  const folder = join(scratch, `parley-${version}`)
  mkdirSync(folder)
  run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1'], scratch)
  run('mv', ['npm-shrinkwrap.json', 'package-lock.json'], folder)
  run('npm', ['ci', '--omit=dev', ...quietly], folder)
  symlinkSync(folder, join(scratch, 'parley'))
  assert.equal(run(PROGRAM, ['--version'], scratch).trim(), version)
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const { packages: installed } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'))
  for (const [path, { version: found }] of Object.entries(installed)) {
    assert.equal(found, packages[path].version, `${path} is not as tested`)
    assert(!packages[path].dev, `${path} is only for development`)
  }
  say('installed, in the versions of the lockfile')
  return folder
}

/** As docs/upgrade.md says, to a version whose page has other files. */
async function upgrade(folder) {
  const settings = { PARLEY_PORT: '0', PARLEY_DATA_DIR: join(scratch, 'data'), PARLEY_UPSTREAM_URL: 'sandbox' }
  const running = await start(['serve'], settings, / ready on /)
  const next = join(scratch, 'parley-next')
  cpSync(folder, next, { recursive: true, verbatimSymlinks: true })
  rmSync(join(next, 'dist/console'), { recursive: true })
  run('ln', ['-sfn', next, join(scratch, 'parley')], scratch)
  const page = await (await fetch(`${running.url}/console/`)).text()
  const files = [...page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, file]) => file)
  assert.notEqual(files.length, 0, page)
  for (const file of files) assert.equal((await fetch(`${running.url}${file}`)).status, 200, file)
  await running.end()
  say('an upgrade leaves the page of a running process as it is')
}

async function upAndServe() {
  const settings = { PARLEY_PORT: '0', PARLEY_DATA_DIR: join(scratch, 'data') }
  const first = await start(['up'], settings, /^Ctrl-C/)
  const key = /API key +(\S+)/.exec(first.printed())[1]
  const body = { phone_number: '+5511900001234', message_type: 'text', text: 'From the package' }
  const sent = await ask(`${first.url}/send-chat`, key, body)
  assert.equal(sent.success, true, JSON.stringify(sent))
  assert.equal((await fetch(`${first.url}/console/`)).status, 200)
  assert.equal((await fetch(`${first.url}/openapi.json`)).status, 200)
  await first.end()
  say('up sends')

  const second = await start(['serve'], { ...settings, PARLEY_UPSTREAM_URL: 'sandbox' }, / ready on /)
  const read = await ask(`${second.url}/conversations?chatNumber=5511900001234&limit=1`, key)
  assert.equal(read.messages[0].message, body.text)
  await second.end()
  say('serve finds what up sent')
}

/** The sources of a clone are newer than what was built: what would build them anew is not there, and is not looked for. */
function runBuilt() {
  const clone = join(scratch, 'clone')
  run('git', ['clone', '--quiet', '--shared', root, clone], scratch)
  cpSync(join(root, 'dist'), join(clone, 'dist'), { recursive: true })
  run('npm', ['ci', '--omit=dev', ...quietly], clone)
  assert.equal(run('bin/parley', ['--version'], clone).trim(), version)
  say('a checkout without development packages runs what was built')
}

/** Starts `parley …` in a process group of its own, and waits for the line. */
async function start(args, settings, line) {
  const child = spawn(PROGRAM, args, {
    cwd: scratch,
    env: { ...env, ...settings },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const printed = []
  await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (text) => {
      printed.push(text)
      if (line.test(text)) resolve()
    })
    ended.then(() => reject(new Error(`parley ${args.join(' ')} ended without being ready`)))
  })
  // As Ctrl-C does it: the signal goes to all of the group.
  const end = async () => {
    process.kill(-child.pid, 'SIGINT')
    await ended
  }
  return { url: / ready on (\S+)/.exec(printed[0])[1], printed: () => printed.join('\n'), end }
}

async function ask(url, key, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers })
  return response.json()
}

function run(program, args, cwd) {
  return execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function say(what) {
  process.stdout.write(`package: ${what} (${Math.round(performance.now() / 1000)} s)\n`)
}
