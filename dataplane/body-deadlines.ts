// This file holds the one wheel of deadlines for all bodies that are awaited: what arrived while the process stood
// still is not refused.

import { createDeadlines } from './deadlines.ts'

export const bodyDeadlines = createDeadlines()
