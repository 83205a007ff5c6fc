import { ActionIcon, Button, FileButton, Group, Menu, Text, Tooltip } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import {
  IconAddressBook,
  IconCheck,
  IconDotsVertical,
  IconMapPin,
  IconMicrophone,
  IconPaperclip,
  IconSquareRoundedCheck,
  IconTemplate,
  IconTrash,
} from '@tabler/icons-react'
import { type ComponentType, lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { clock } from '../../../../shared/format.js'
import { ACCEPTED } from '../attachments/limits.js'
import type { Attachments } from '../attachments/use-attachments.js'
import classes from '../composer.module.css'
import type { MessageDialogProps } from '../dialogs/message-dialog-props.js'
import type { SendRequest } from '../pending-sends.js'
import type { Route } from '../requests.js'
import { useRecorder } from './use-recorder.js'

// Loaded on demand.
const DIALOGS: Record<'location' | 'card' | 'offer', ComponentType<MessageDialogProps>> = {
  location: lazy(() => import('../dialogs/location-dialog.js')),
  card: lazy(() => import('../dialogs/card-dialog.js')),
  offer: lazy(() => import('../dialogs/offer-dialog.js')),
}

/** Buttons for everything that can be sent apart from text. */
export function Tools({
  route,
  attachments,
  onSend,
  onTemplate,
}: {
  route: Route
  attachments: Attachments
  onSend: (request: SendRequest) => void
  onTemplate: (() => void) | null
}) {
  const { t } = useTranslation('thread')
  const [openDialog, setOpenDialog] = useState<keyof typeof DIALOGS | null>(null)
  const recorder = useRecorder(
    (file) => void attachments.add([file], true),
    () => notifications.show({ color: 'red', title: t('noMicrophone'), message: t('noMicrophoneHint') }),
  )
  if (recorder.isRecording) return <Recording recorder={recorder} />
  const OpenDialog = openDialog && DIALOGS[openDialog]
  const isLinked = route.channel?.kind === 'linked_device'
  return (
    <Group gap={2} wrap="nowrap">
      <FileButton multiple accept={ACCEPTED.join(',')} onChange={(files) => void attachments.add(files)}>
        {(props) => <Tool {...props} label={t('attach')} icon={IconPaperclip} />}
      </FileButton>
      {recorder.isPossible && <Tool label={t('record')} icon={IconMicrophone} onClick={() => void recorder.start()} />}
      {onTemplate && <Tool label={t('template')} icon={IconTemplate} onClick={onTemplate} />}
      <Menu position="top-start" shadow="md" withinPortal>
        <Menu.Target>
          <ActionIcon size={34} variant="subtle" color="gray" aria-label={t('moreKinds')}>
            <IconDotsVertical aria-hidden size={20} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconMapPin aria-hidden size={16} />} onClick={() => setOpenDialog('location')}>
            {t('kinds.location')}
          </Menu.Item>
          <Menu.Item leftSection={<IconAddressBook aria-hidden size={16} />} onClick={() => setOpenDialog('card')}>
            {t('kinds.contacts')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconSquareRoundedCheck aria-hidden size={16} />}
            disabled={isLinked}
            onClick={() => setOpenDialog('offer')}
          >
            {t('kinds.buttons')}
            {isLinked && <Text size="xs">{t('offer.notLinked')}</Text>}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {OpenDialog && (
        <Suspense>
          <OpenDialog route={route} onSend={onSend} onClose={() => setOpenDialog(null)} />
        </Suspense>
      )}
    </Group>
  )
}

function Tool({ label, icon: Icon, ...props }: { label: string; icon: typeof IconMapPin; onClick?: () => void }) {
  return (
    <Tooltip label={label} openDelay={400}>
      <ActionIcon size={34} variant="subtle" color="gray" aria-label={label} {...props}>
        <Icon aria-hidden size={20} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}

function Recording({ recorder }: { recorder: ReturnType<typeof useRecorder> }) {
  const { t } = useTranslation('thread')
  return (
    <Group gap="xs" wrap="nowrap">
      <ActionIcon size={34} variant="subtle" color="red" onClick={recorder.cancel} aria-label={t('discardRecording')}>
        <IconTrash aria-hidden size={20} stroke={1.6} />
      </ActionIcon>
      <Text size="sm" role="timer" className={classes.recording}>
        {clock(recorder.seconds)}
      </Text>
      <Button size="compact-sm" autoFocus leftSection={<IconCheck aria-hidden size={16} />} onClick={recorder.finish}>
        {t('finishRecording')}
      </Button>
    </Group>
  )
}
