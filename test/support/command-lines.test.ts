// Checks how scripts of the documentation are read.

import { expect, it } from '@jest/globals'
import { commandsOf } from './command-lines.ts'

it.each([
  ['', []],
  ['# a comment', []],
  ['M=http://127.0.0.1:18081', []],
  ['svc validate apis/ # all of them', [['svc', 'validate', 'apis/']]],
  ["printf %s 'a | b' | sha256sum", [['printf', '%s', 'a | b'], ['sha256sum']]],
  ['A=1 make image >/dev/null 2>&1 &', [['make', 'image']]],
  [
    'kubectl apply \\\n  -f a.yaml && echo "it\'s \\"on\\""',
    [
      ['kubectl', 'apply', '-f', 'a.yaml'],
      ['echo', 'it\'s \\"on\\"'],
    ],
  ],
  ["curl -d '{\n}' $M/x\nls", [['curl', '-d', '{\n}', '$M/x'], ['ls']]],
  ['KEY=$(openssl rand -hex 32); ls <in', [['openssl', 'rand', '-hex', '32'], ['ls']]],
  [
    'source <(svc completion bash)',
    [
      ['svc', 'completion', 'bash'],
      ['source', '<(svc completion bash)'],
    ],
  ],
])('%j has the commands %j', (script, commands) => {
  expect(commandsOf(script)).toEqual(commands)
})
