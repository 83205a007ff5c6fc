import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Deployment } from 'kubernetes-models/apps/v1'
import { Job } from 'kubernetes-models/batch/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, Service } from 'kubernetes-models/v1'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../../src/config/read.js'
import { roles } from '../../src/config/values.js'

const FOLDER = 'deploy/kubernetes'
const KINDS = { ConfigMap, Deployment, Job, PodDisruptionBudget, Service }
const MODULES = {
  ConfigMap: 'v1',
  Deployment: 'apps/v1',
  Job: 'batch/v1',
  PodDisruptionBudget: 'policy/v1',
  Service: 'v1',
}

type Manifest = { kind: keyof typeof KINDS; metadata: { name: string } } & Record<string, unknown>

let manifests: Manifest[]
let listed: string[]

beforeAll(async () => {
  ;[{ resources: listed }] = (await read('kustomization.yaml')) as unknown as [{ resources: string[] }]
  manifests = (await Promise.all(listed.map(read))).flat()
})

describe('the manifests of Kubernetes', () => {
  it('are all named in the kustomization', async () => {
    const files = await readdir(FOLDER)
    expect(listed.toSorted()).toEqual(files.filter((file) => file !== 'kustomization.yaml').toSorted())
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
    for (const pod of pods()) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: Number(uid),
          runAsGroup: Number(gid),
          seccompProfile: { type: 'RuntimeDefault' },
        },
        containers: [
          {
            image: 'parley',
            envFrom: [{ configMapRef: { name: 'parley' } }, { secretRef: { name: 'parley' } }],
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
            volumeMounts: [{ name: 'data', mountPath: folder }],
          },
        ],
      })
    }
  })

  it('set only settings that exist, and no secret', () => {
    const [config] = ofKind('ConfigMap')
    expect(readConfig(config?.data as Record<string, string>)).toMatchObject({ ok: true })
    expect(manifests.map(({ kind }) => kind as string)).not.toContain('Secret')
    expect(Object.keys(config?.data ?? {})).toEqual(['PARLEY_PUBLIC_URL', 'PARLEY_MEDIA_URL'])
  })
})

async function read(file: string): Promise<Manifest[]> {
  return parseAllDocuments(await readFile(join(FOLDER, file), 'utf8')).map((document) => document.toJS())
}

function ofKind(kind: Manifest['kind']): Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind)
}

function deployments(): Deployment[] {
  return ofKind('Deployment') as unknown as Deployment[]
}

function pods() {
  const jobs = ofKind('Job') as unknown as Job[]
  return [...deployments(), ...jobs].map(({ spec }) => spec?.template?.spec)
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
