// The built image, looked into and run: who runs in it, what is not there, that both programs answer, and that the
// list of its packages is true.

import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { readVersion } from '../../telemetry/version.ts'
import { CLUSTER_IMAGES, clusterImages } from '../support/cluster/cluster-images.ts'
import { ROLLOUT_MS } from '../support/cluster/describe-with-cluster-node.ts'
import { buildah } from '../support/cluster/image-store.ts'
import { clusterAvailability } from '../support/cluster/node-recipe.ts'
import { describeWithReal } from '../support/kubernetes/describe-with-real.ts'

interface OpenedImage extends AsyncDisposable {
  /** Its root on this machine. */
  readonly root: string
  readonly run: (...command: readonly string[]) => Promise<string>
  readonly config: {
    readonly User: string
    readonly Cmd: readonly string[]
    readonly Labels: Readonly<Record<string, string>>
  }
}

const openImage = async (): Promise<OpenedImage> => {
  const container = await buildah(['from', '--pull-never', CLUSTER_IMAGES.gateway])
  const inspected = await buildah(['inspect', '--type', 'image', CLUSTER_IMAGES.gateway])
  const { OCIv1 } = JSON.parse(inspected) as { OCIv1: { config: OpenedImage['config'] } }
  return {
    root: await buildah(['mount', container]),
    config: OCIv1.config,
    run: (...command) => buildah(['run', '--isolation', 'chroot', container, '--', ...command]),
    [Symbol.asyncDispose]: async () => {
      await buildah(['rm', container])
    },
  }
}

interface Package {
  readonly name: string
  readonly version: string
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

/** Every `node_modules/NAME` and `node_modules/@SCOPE/NAME`, at any depth. */
const packagesUnder = async (modules: string): Promise<readonly string[]> => {
  const found: string[] = []
  for (const entry of await readdir(modules)) {
    const folder = join(modules, entry)
    const names = entry.startsWith('@') ? await readdir(folder) : ['']
    for (const name of names) {
      const each = join(folder, name)
      const { name: called, version } = readJson(join(each, 'package.json')) as Package
      found.push(`${called}@${version}`)
      const inner = join(each, 'node_modules')
      if (existsSync(inner)) found.push(...(await packagesUnder(inner)))
    }
  }
  return [...new Set(found)].sort()
}

await describeWithReal(
  'the image',
  {
    what: 'The image',
    availability: clusterAvailability,
    build: () => clusterImages('gateway'),
    start: openImage,
    patienceMs: ROLLOUT_MS,
  },
  (image) => {
    it('runs as an unprivileged user, the gateway where nothing is said', () => {
      const { User, Cmd, Labels } = image().config
      expect([User, Cmd]).toEqual(['65532:65532', ['svc-gateway']])
      expect(Labels).toMatchObject({
        'org.opencontainers.image.title': 'svc-gateway',
        'org.opencontainers.image.licenses': 'Apache-2.0',
      })
    })

    it('has four programs, and no shell, package manager or compiler among them', async () => {
      const { root } = image()
      expect((await readdir(join(root, 'usr/local/bin'))).sort()).toEqual([
        'node',
        'svc',
        'svc-gateway',
        'svc-operator',
      ])
      const folders = ['bin', 'sbin', 'usr/bin', 'usr/sbin', 'usr/local/lib/node_modules/npm']
      expect(folders.filter((folder) => existsSync(join(root, folder)))).toEqual([])
    })

    it('both programs answer', async () => {
      const { run } = image()
      expect(await run('svc-gateway', '--version')).toBe(readVersion())
      expect(await run('svc-operator', '--version')).toBe(readVersion())
      expect(await run('svc', 'version')).toMatch(new RegExp(`^svc ${readVersion()} `))
    }, 60_000)

    it('has the names, time zones and certificate authorities that programs ask for', async () => {
      const script = `require('dns').lookup('localhost', (error, address) => console.log(JSON.stringify([
        process.getuid(), error?.code ?? require('net').isIP(address) > 0, require('tls').rootCertificates.length > 50,
        new Intl.DateTimeFormat('de', { timeZone: 'Asia/Tokyo', dateStyle: 'full' }).format(0)])))`
      expect(JSON.parse(await image().run('node', '-e', script))).toEqual([
        65532,
        true,
        true,
        'Donnerstag, 1. Januar 1970',
      ])
    }, 60_000)

    it('lists exactly the packages that are in it, none of them for developers', async () => {
      const app = join(image().root, 'app')
      const { components } = readJson(join(app, 'sbom.json')) as {
        readonly components: readonly Package[]
      }
      const listed = components.map(({ name, version }) => `${name}@${version}`)
      expect([...new Set(listed)].sort()).toEqual(await packagesUnder(join(app, 'node_modules')))
      const { devDependencies, dependencies } = readJson(join(app, 'package.json')) as Readonly<
        Record<'devDependencies' | 'dependencies', Readonly<Record<string, string>>>
      >
      const names = new Set(components.map(({ name }) => name))
      expect(Object.keys(dependencies).filter((name) => !names.has(name))).toEqual([])
      // Types are production dependencies of packages of others, without their contents.
      const wanted = Object.keys(devDependencies).filter((name) => !name.startsWith('@types/'))
      expect(wanted.filter((name) => names.has(name))).toEqual([])
    })

    it('has nothing that no program reads', async () => {
      const files = await readdir(join(image().root, 'app'), { recursive: true })
      expect(files.filter((file) => /\.(?:ts|map|gyp|bare)$/.test(file))).toEqual([])
    })
  },
)
