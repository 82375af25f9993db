// Draws docs/terminal.svg; a test compares it with what `svc` prints.

import { writeFileSync } from 'node:fs'
import { drawPicture, PICTURE_PATH } from './picture.ts'

writeFileSync(PICTURE_PATH, await drawPicture())
