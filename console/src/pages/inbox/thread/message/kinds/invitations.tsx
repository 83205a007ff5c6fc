import { Text } from '@mantine/core'
import { IconCalendarEvent, IconUsersGroup } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import { useFormat } from '../../../../../shared/format.js'
import classes from './body.module.css'

/** An invitation to an event. */
export function Event({ content }: { content: ContentOf<'event'> }) {
  const { t } = useTranslation('thread')
  const format = useFormat()
  const { name, description, location, starts_at: start, ends_at: end, is_canceled: isCanceled } = content
  const times = [start, end].filter((time) => time !== null).map((time) => format.dateTime(time))
  const place = [location?.name, location?.address].filter((part) => part).join(', ')
  return (
    <div className={classes.box}>
      <Text size="xs" className={classes.dim}>
        <IconCalendarEvent aria-hidden size={13} className={classes.inline} /> {t('kinds.event')}
        {isCanceled && ` · ${t('canceled')}`}
      </Text>
      <Text size="sm" fw={600}>
        {name ?? '?'}
      </Text>
      {times.length > 0 && <Text size="sm">{times.join(' – ')}</Text>}
      {place !== '' && <Text size="sm">{place}</Text>}
      {description && (
        <Text size="sm" className={classes.text} p={0}>
          {description}
        </Text>
      )}
    </div>
  )
}

/** An invitation to a group. The page does not join it. */
export function GroupInvite({ content: { group_name: name, caption } }: { content: ContentOf<'group_invite'> }) {
  const { t } = useTranslation('thread')
  return (
    <div className={classes.box}>
      <Text size="xs" className={classes.dim}>
        <IconUsersGroup aria-hidden size={13} className={classes.inline} /> {t('kinds.groupInvite')}
      </Text>
      <Text size="sm" fw={600}>
        {name ?? '?'}
      </Text>
      {caption && (
        <Text size="sm" className={classes.text} p={0}>
          {caption}
        </Text>
      )}
    </div>
  )
}
