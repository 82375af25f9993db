// docs/quick-start.md, line by line, in an empty cluster: every command of it in a shell, every output that it shows.
// Only the image is another, as there is no registry; and ports are free ones of this machine.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { env } from 'node:process'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { CLUSTER_IMAGES, loadClusterImages } from '../support/cluster/cluster-images.ts'
import {
  describeWithClusterNode,
  ROLLOUT_MS,
} from '../support/cluster/describe-with-cluster-node.ts'
import { SYSTEM_NAMESPACE } from '../support/cluster/install.ts'
import { stepsIn } from '../support/cluster/trouble.ts'
import { freePort } from '../support/free-port.ts'
import { buildKube } from '../support/kubernetes/build-kube.ts'
import { WHOLE_PROGRAM } from '../support/kubernetes/kube-recipe.ts'
import { runCommand } from '../support/kubernetes/run-command.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'

jest.setTimeout(ROLLOUT_MS)

const ROOT = join(import.meta.dirname, '../..')
const PAGE = await readFile(join(ROOT, 'docs/quick-start.md'), 'utf8')

interface Line {
  readonly command: string
  readonly output: string
}

/** `$ command`, and what it prints up to the next one. */
const linesOf = (section: string): readonly Line[] =>
  // Blocks of a language are files.
  [...section.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, language = '', block = '']) =>
    language !== ''
      ? []
      : block.split(/^\$ /m).flatMap((part) => {
          const [command = '', ...output] = part.trimEnd().split('\n')
          return command === '' ? [] : [{ command, output: output.join('\n') }]
        }),
  )

const [, ...sections] = PAGE.split(/^## /m)
const FILES = new Map(
  [...PAGE.matchAll(/Save it as `(.*?)`:\n\n```yaml\n(.*?)```/gs)].map(
    ([, name = '', text = '']) => [name, text] as const,
  ),
)
/** It needs docker, podman or buildah: test/image has it. */
const NOT_HERE = 'make image'

/** Of a table or a line: names of Pods, ages and blanks are never the same. */
const shapeOf = (text: string): string =>
  text
    .replaceAll(/-[a-z0-9]{8,10}-[a-z0-9]{5}\b/g, '-POD')
    .replaceAll(/\b(?:\d+[hms])+$/gm, 'AGE')
    .replaceAll(/ +/g, ' ')
    .trim()

await describeWithClusterNode('docs/quick-start.md', (cluster) => {
  const step = stepsIn(cluster, [SYSTEM_NAMESPACE, 'shop'])
  const ports = new Map<string, number>()
  const tunnels: ChildProcess[] = []
  let home: TempDir
  let environment: Readonly<Record<string, string>>

  beforeAll(async () => {
    await loadClusterImages(cluster(), 'gateway', 'echo')
    for (const port of ['18080', '18081']) ports.set(port, await freePort())
    home = await makeTempDir()
    const programs = await buildKube({ whole: true })
    // One program is all of them, by its name.
    for (const name of ['helm', 'kubectl'])
      await symlink(join(programs, WHOLE_PROGRAM), join(home.path, name))
    await symlink(join(ROOT, 'helm'), join(home.path, 'chart'))
    environment = {
      PATH: `${home.path}:${env['PATH'] ?? ''}`,
      HOME: home.path,
      KUBECONFIG: cluster().kubeconfig,
    }
    for (const [name, text] of FILES) await writeFile(join(home.path, name), hereAs(text))
  }, ROLLOUT_MS)
  afterAll(async () => {
    // kubectl keeps what it learns of the API server in there.
    for (const tunnel of tunnels) {
      if (tunnel.exitCode !== null || tunnel.signalCode !== null) continue
      const ended = once(tunnel, 'exit')
      tunnel.kill()
      await ended
    }
    await home[Symbol.asyncDispose]()
  })

  const hereAs = (text: string): string => {
    let here = text
      .replace(' helm/svc-gateway ', ' chart/svc-gateway ')
      .replace(
        /^(helm install .*)$/m,
        `$1 --set image.repository=localhost/svc-gateway,image.tag=test`,
      )
      .replace('registry.k8s.io/e2e-test-images/agnhost:2.53', CLUSTER_IMAGES.echo)
    for (const [port, free] of ports)
      here = here
        .replace(` ${port}:80`, ` ${free}:80`)
        .replace(`127.0.0.1:${port}`, `127.0.0.1:${free}`)
    return here
  }
  const openTunnel = (command: string): void => {
    const args = ['-c', `exec ${command.replace(/ &$/, '')}`]
    tunnels.push(spawn('sh', args, { cwd: home.path, env: environment, stdio: 'ignore' }))
  }
  const type = async (command: string): Promise<string> => {
    const here = hereAs(command)
    if (here.endsWith('&')) {
      openTunnel(here)
      return ''
    }
    const args = ['-c', `${here} 2>&1`]
    const { code, stdout } = await runCommand({
      program: 'sh',
      args,
      cwd: home.path,
      environment,
      timeoutMs: 300_000,
    })
    // The fault that the page shows is the one command that fails.
    if (code !== 0 && !here.includes('statik')) throw new Error(`${here}: ${code}\n${stdout}`)
    return stdout
  }

  it.each(sections.map((text) => ({ heading: text.split('\n')[0] ?? '', text })))(
    '$heading',
    ({ text }) =>
      step(async () => {
        for (const { command, output } of linesOf(text).filter(
          (line) => line.command !== NOT_HERE,
        )) {
          const printed = shapeOf(await type(command))
          for (const shown of shapeOf(output).split('\n'))
            expect({ command, printed }).toEqual({
              command,
              printed: expect.stringContaining(shown.replace(/ …$/, '')),
            })
        }
      })(),
  )
})

it('shows what it is about', () => {
  expect([...FILES.keys()]).toEqual(['hello.yaml', 'orders.yaml'])
  expect(sections).toHaveLength(5)
  expect(sections.flatMap(linesOf).length).toBeGreaterThan(20)
})
