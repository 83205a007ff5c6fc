import { DataList, Modal } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../../shared/format.js'
import type { ThreadMessage } from '../window.js'
import { useAuthor } from './describe.js'
import { stateOf } from './state.js'

/** All details of a message. */
export function MessageInfo({
  message,
  contactName,
  onClose,
}: {
  message: ThreadMessage | null
  contactName: string
  onClose: () => void
}) {
  const { t } = useTranslation('thread')
  const format = useFormat()
  const author = useAuthor(contactName)
  if (!message) return null
  const rows: [string, string | null][] = [
    [t('infoAuthor'), author(message)],
    [t('infoTime'), format.dateTime(message.created_at)],
    [t('infoState'), t(`states.${stateOf(message)}`)],
    [t('infoChannel'), message.instance ?? t('ownNumber')],
    [t('infoError'), message.error && `${message.error.text} (${message.error.code})`],
    [t('infoId'), message.id],
    [t('infoWhatsAppId'), message.message_id],
  ]
  return (
    <Modal opened onClose={onClose} title={t('info')} centered>
      <DataList size="sm">
        {rows.map(
          ([label, value]) =>
            value !== null && (
              <DataList.Item key={label}>
                <DataList.ItemLabel>{label}</DataList.ItemLabel>
                <DataList.ItemValue>{value}</DataList.ItemValue>
              </DataList.Item>
            ),
        )}
      </DataList>
    </Modal>
  )
}
