import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Deployment } from 'kubernetes-models/apps/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../../src/config/read.js'
import { roles } from '../../src/config/values.js'

const FOLDER = 'deploy/kubernetes'
const KINDS = { Deployment, PodDisruptionBudget, Service }
const MODULES = {
  Deployment: 'apps/v1',
  PodDisruptionBudget: 'policy/v1',
  Service: 'v1',
}

type Manifest = { kind: keyof typeof KINDS; metadata: { name: string } } & Record<string, unknown>

interface Kustomization {
  resources: string[]
  components: string[]
  configMapGenerator: [{ name: string; literals: string[] }]
}

let manifests: Manifest[]
let base: Kustomization

beforeAll(async () => {
  ;[base] = (await read('kustomization.yaml')) as unknown as [Kustomization]
  manifests = (await Promise.all([...base.resources, 'gateway/gateway.yaml'].map(read))).flat()
  // As kustomize merges it.
  const [patch] = (await read('migrate/migrate.yaml')) as unknown as [Deployment]
  for (const { spec } of deployments()) Object.assign(spec?.template.spec ?? {}, patch.spec?.template.spec)
})

describe('the manifests of Kubernetes', () => {
  it('are all named in the kustomization', async () => {
    const entries = await readdir(FOLDER, { withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
    expect(base.resources.toSorted()).toEqual(files.filter((file) => file !== 'kustomization.yaml').toSorted())
  })

  it('have the pods of each Deployment migrate before they start', async () => {
    const [gateway, migrate] = await Promise.all(
      ['gateway', 'migrate'].map(async (folder) => (await read(`${folder}/kustomization.yaml`))[0]),
    )
    expect(base.components).toEqual(['migrate'])
    expect(gateway).toMatchObject({ resources: ['gateway.yaml'], components: ['../migrate'] })
    expect(migrate).toMatchObject({ patches: [{ path: 'migrate.yaml', target: { kind: 'Deployment' } }] })
  })

  it('follow the published schemas', () => {
    for (const manifest of manifests) new KINDS[manifest.kind](manifest as never).validate()
    const wrong = { spec: { selector: {}, template: {}, replicas: 'two' } }
    expect(() => new Deployment(wrong as never).validate()).toThrow(/replicas/)
  })

  it('have no field that the schemas do not know', () => {
    expect(typeErrors(manifests)).toEqual([])
    const [api] = deployments()
    expect(typeErrors([{ ...api, spec: { ...api?.spec, replica: 2 } } as never])).toMatchObject([/replica/])
  })

  it('run each role, with its disruption budget and its own pods', () => {
    const names = roles.map((role) => `parley-${role}`)
    expect(base.resources).not.toContain('gateway/gateway.yaml')
    expect(deployments().map(({ metadata }) => metadata?.name)).toEqual(names)
    expect(ofKind('PodDisruptionBudget').map(({ metadata }) => metadata.name)).toEqual(names)
    for (const [index, role] of roles.entries()) {
      const { spec } = deployments()[index] ?? {}
      const labels = { 'app.kubernetes.io/name': 'parley', 'app.kubernetes.io/component': role }
      const budget = ofKind('PodDisruptionBudget')[index]
      expect(budget).toMatchObject({ spec: { selector: { matchLabels: labels } } })
      expect(spec).toMatchObject({ selector: { matchLabels: labels }, template: { metadata: { labels } } })
      expect(spec?.template?.spec?.topologySpreadConstraints?.[0]?.labelSelector).toEqual({ matchLabels: labels })
      expect(spec?.template?.spec?.containers[0]?.env).toEqual([{ name: 'PARLEY_ROLES', value: role }])
    }
  })

  it('lead the Service to the port of the api', async () => {
    const [service] = ofKind('Service')
    const api = deployments().find(({ metadata }) => metadata?.name === 'parley-api')
    expect(service?.spec).toMatchObject({ selector: api?.spec?.selector.matchLabels, ports: [{ targetPort: 'http' }] })
    const port = /^ *PARLEY_PORT=(\d+)/m.exec(await readFile('Dockerfile', 'utf8'))?.[1]
    for (const { spec } of deployments()) {
      const [container] = spec?.template?.spec?.containers ?? []
      expect(container?.ports).toEqual([{ name: 'http', containerPort: Number(port) }])
      expect(container?.startupProbe?.httpGet).toEqual({ path: '/healthz', port: 'http' })
      expect(container?.livenessProbe?.httpGet).toEqual({ path: '/healthz', port: 'http' })
      expect(container?.readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'http' })
    }
  })

  it('give pods no more rights than the image needs', async () => {
    const dockerfile = await readFile('Dockerfile', 'utf8')
    const [, uid, gid] = /^USER (\d+):(\d+)$/m.exec(dockerfile) ?? []
    const folder = /^VOLUME (.+)$/m.exec(dockerfile)?.[1]
    for (const { spec } of deployments()) {
      const rights = {
        image: 'parley',
        envFrom: [{ configMapRef: { name: 'parley' } }, { secretRef: { name: 'parley' } }],
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [{ name: 'data', mountPath: folder }],
      }
      expect(spec?.template.spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: Number(uid),
          runAsGroup: Number(gid),
          seccompProfile: { type: 'RuntimeDefault' },
        },
        // A pod of a new version does not start on an older schema.
        initContainers: [{ args: ['migrate'], ...rights }],
        containers: [rights],
      })
    }
  })

  it('set only settings that exist, and no secret', () => {
    const [{ literals }] = base.configMapGenerator
    const settings = Object.fromEntries(literals.map((literal) => literal.split(/=(.*)/, 2)))
    expect(readConfig(settings)).toMatchObject({ ok: true })
    expect(manifests.map(({ kind }) => kind as string)).not.toContain('Secret')
    expect(Object.keys(settings)).toEqual(['PARLEY_PUBLIC_URL', 'PARLEY_MEDIA_URL'])
  })
})

describe.skipIf(!knowsComponents())('the overlay of docs/install.md', () => {
  let folder: string

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-overlay-')))
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('sets what it says, and replaces pods when a setting or a secret changes', async () => {
    const first = await render('https://chat.example.com', 'one')
    const pods = first.filter(({ kind }) => kind === 'Deployment')
    const names = pods.map(({ metadata }) => metadata.name)
    expect(names.toSorted()).toEqual(['parley-api', 'parley-gateway', 'parley-worker'])
    const text = JSON.stringify(first)
    expect(text).toContain('"PARLEY_PUBLIC_URL":"https://chat.example.com"')
    expect(text.match(/"image":"[^"]+"/g)).toEqual(Array(6).fill('"image":"registry.example/parley:1.2.3"'))
    for (const changed of [
      await render('https://other.example.com', 'one'),
      await render('https://chat.example.com', 'two'),
    ]) {
      for (const [index, pod] of changed.filter(({ kind }) => kind === 'Deployment').entries()) {
        expect(pod.metadata).toEqual(pods[index]?.metadata)
        expect(pod.spec).not.toEqual(pods[index]?.spec)
      }
    }
  })

  it('has Prometheus use the token that is in the secret', async () => {
    const rendered: { kind: string; metadata: { name: string } }[] = await render('https://chat.example.com', 'one')
    const monitor = rendered.find(({ kind }) => kind === 'PodMonitor')
    const secret = rendered.find(({ kind }) => kind === 'Secret')
    expect(secret).toMatchObject({ data: { PARLEY_METRICS_TOKEN: Buffer.from('one').toString('base64') } })
    expect(monitor).toMatchObject({
      spec: {
        jobLabel: 'app.kubernetes.io/name',
        selector: { matchLabels: { 'app.kubernetes.io/name': 'parley' } },
        podMetricsEndpoints: [
          {
            port: 'http',
            path: '/metrics',
            authorization: { credentials: { name: secret?.metadata.name, key: 'PARLEY_METRICS_TOKEN' } },
          },
        ],
      },
    })
  })

  /** The overlay as the page has it, with both components. */
  async function render(url: string, token: string): Promise<Manifest[]> {
    const page = await readFile('docs/install.md', 'utf8')
    const overlay = /^```yaml\n(# kustomization\.yaml\n.*?)^```$/ms.exec(page)?.[1] ?? ''
    const to = relative(folder, resolve(FOLDER))
    const text = overlay
      .replaceAll(`../parley/${FOLDER}`, to)
      .replace('components:\n', `components:\n  - ${to}/gateway\n`)
      .replace('https://chat.example.com', url)
    await writeFile(join(folder, 'kustomization.yaml'), text)
    await writeFile(join(folder, 'secret.env'), `PARLEY_METRICS_TOKEN=${token}\n`)
    const { stdout } = await promisify(execFile)('kubectl', ['kustomize', folder])
    return parseAllDocuments(stdout).map((document) => document.toJS())
  }
})

/** Whether there is a kubectl of 1.21 or later: kustomize in older ones knows no components. */
function knowsComponents(): boolean {
  const { stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' })
  return Number(/"minor": "(\d+)/.exec(stdout)?.[1]) >= 21
}

async function read(file: string): Promise<Manifest[]> {
  return parseAllDocuments(await readFile(join(FOLDER, file), 'utf8')).map((document) => document.toJS())
}

function ofKind(kind: Manifest['kind']): Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind)
}

function deployments(): Deployment[] {
  return ofKind('Deployment') as unknown as Deployment[]
}

/** The compiler refuses unknown fields of literals, which the schemas permit. */
function typeErrors(checked: readonly Manifest[]): string[] {
  const path = resolve(FOLDER, 'manifests.ts')
  const lines = checked.map((manifest) => {
    const { kind, ...fields } = manifest
    const from = `kubernetes-models/${MODULES[kind]}`
    return `;(${JSON.stringify({ kind, ...fields })}) satisfies import('${from}').I${kind}`
  })
  const text = `${lines.join('\n')}\nexport {}\n`
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (name) => name === path || fileExists(name)
  host.getSourceFile = (name, version, ...others) =>
    name === path ? ts.createSourceFile(name, text, version, true) : getSourceFile(name, version, ...others)
  const program = ts.createProgram([path], options, host)
  return ts
    .getPreEmitDiagnostics(program, program.getSourceFile(path))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
