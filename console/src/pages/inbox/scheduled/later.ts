import { lazyPart } from '../../../i18n/index.js'

/** The dialog that asks when a message is to be sent, with the texts of the picker of times. */
export const LaterDialog = lazyPart(['broadcasts', 'analytics'], () => import('./later-dialog.js'))
