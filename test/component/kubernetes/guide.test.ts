// Checks that a real API server takes every resource that a page or examples/ shows, and that every `kubectl` line of the
// installation works.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from '@jest/globals'
import { parseAllDocuments } from 'yaml'
import { eventually } from '../../support/eventually.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { guideOf, PAGES, textOf } from '../../support/pages.ts'
import { snippetsOf } from '../../support/snippets.ts'

const ROOT = join(import.meta.dirname, '../../..')
const PAGE = guideOf('kubernetes')

interface Block {
  readonly name: string
  readonly yaml: string
}

interface Manifest {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: { readonly namespace?: string }
}

const manifestsIn = (yaml: string): readonly Manifest[] =>
  parseAllDocuments(yaml).map((document) => (document.toJS() ?? {}) as Manifest)

/** Of Argo CD and others that are not installed here. */
const isForeign = ({ apiVersion = '' }: Manifest): boolean => apiVersion.startsWith('argoproj.io/')

/** Blocks that are whole resources; fragments are checked by test/examples/snippets.test.ts. */
const BLOCKS: readonly Block[] = [
  ...PAGES.flatMap((page) =>
    snippetsOf(page, textOf(page))
      .filter(({ language }) => language === 'yaml')
      .map(({ line, text }) => ({ name: `${page}:${line}`, yaml: text })),
  ),
  {
    name: 'docs/gitops/argocd-cm.yaml',
    yaml: await readFile(join(ROOT, 'docs/gitops/argocd-cm.yaml'), 'utf8'),
  },
].filter(({ yaml }) => {
  const manifests = manifestsIn(yaml)
  const areWhole = manifests.length > 0 && manifests.every(({ kind }) => kind !== undefined)
  return areWhole && !manifests.some(isForeign)
})
const FIRST = BLOCKS.find(({ name }) => name.startsWith('docs/kubernetes.md'))?.yaml ?? ''
const NAMESPACES = new Set(
  BLOCKS.flatMap(({ yaml }) =>
    manifestsIn(yaml).flatMap(({ metadata }) => metadata?.namespace ?? []),
  ),
)

const EXAMPLES = (await readdir(join(ROOT, 'examples'))).filter((name) => name.endsWith('.yaml'))

const INSTALL = /^```\n(kubectl create namespace .*?)\n```/ms.exec(PAGE)?.[1]?.split('\n') ?? []

await describeWithKubernetes('docs/kubernetes.md', (plane) => {
  const run = async (line: string, input = ''): Promise<string> => {
    const [, ...args] = line.replaceAll('crds/', `${ROOT}/crds/`).split(' ')
    const { code, stdout, stderr } = await plane().kubectl(args, { input })
    if (code !== 0) throw new Error(`${line}: ${stderr}`)
    return stdout + stderr
  }

  beforeAll(async () => {
    for (const line of INSTALL) await run(line)
    await plane().apply(
      [...NAMESPACES].map((name) => ({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      })),
    )
  }, 120_000)

  it('installs in three lines, and again', async () => {
    expect(INSTALL.map((line) => line.split(' ')[1])).toEqual(['create', 'apply', 'wait'])
    const again = await run(INSTALL[1] ?? '')
    expect(again.trim().split('\n').length).toBeGreaterThan(20)
    const canI =
      'kubectl auth can-i list realms.gateway.svc.dev -A --as=system:serviceaccount:svc-gateway-system:svc-operator'
    // What is granted counts a moment after it was written.
    expect(await eventually(() => run(canI))).toContain('yes')
  })

  it.each(BLOCKS)('what stands at $name is taken', async ({ yaml }) => {
    const output = await run('kubectl apply --server-side --dry-run=server -f -', yaml)
    const objects = parseAllDocuments(yaml)
    expect(output.trim().split('\n')).toHaveLength(objects.length)
    expect(output).not.toContain('Warning')
  })

  it('all examples are taken', async () => {
    const texts = await Promise.all(
      EXAMPLES.map((name) => readFile(join(ROOT, 'examples', name), 'utf8')),
    )
    const yaml = texts.join('\n---\n')
    const output = await run('kubectl apply --server-side --dry-run=server -f -', yaml)
    expect(output).not.toContain('Warning')
    expect(output.match(/^apispecification/gm)?.length).toBeGreaterThan(20)
  })

  it.each([...PAGE.matchAll(/^kubectl create rolebinding .*$/gm)].map(([line]) => line))(
    '%s',
    async (line) => {
      expect(await run(`${line} --dry-run=server`)).toContain('created')
    },
  )

  it('pauses and goes on', async () => {
    await run('kubectl apply --server-side -f -', FIRST)
    const [, line = ''] = /`(kubectl annotate apispec hello [^`]*)`/.exec(PAGE) ?? []
    expect(await run(line)).toContain('annotated')
    expect(await run(line.replace('=true', '-'))).toContain('annotated')
  })

  it('mends what was applied without --server-side', async () => {
    const text = async (): Promise<string> => run('kubectl get apispec hello -n shop -o yaml')
    await run('kubectl delete apispec hello -n shop --ignore-not-found')
    await run('kubectl apply -f -', FIRST)
    expect(await text()).toContain('last-applied-configuration')
    const [, apply = ''] = /`(kubectl apply --server-side --force-conflicts)`/.exec(PAGE) ?? []
    await run(`${apply} -f -`, FIRST)
    const [, line = ''] = /`(kubectl annotate apispec NAME [^`]*)`/.exec(PAGE) ?? []
    await run(`${line.replace('NAME', 'hello')} -n shop`)
    expect(await text()).not.toContain('last-applied-configuration')
  })
})
