import { Anchor, Modal, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'
import { FileState } from './file-state.js'

/** A picture. Its space is reserved while it loads; a click enlarges it. */
export function Picture({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const [isOpen, large] = useDisclosure(false)
  const [isBroken, setBroken] = useState(false)
  const { media_url: url, message: caption } = message
  if (url === null || isBroken) {
    return (
      <span className={classes.frame} data-missing>
        <FileState message={isBroken ? { ...message, error: { code: 0, text: '' } } : message} />
      </span>
    )
  }
  const alt = caption || t('kinds.image')
  return (
    <>
      <UnstyledButton
        className={`${classes.frame} ${classes.open}`}
        onClick={large.open}
        aria-label={t('enlarge', { what: alt })}
      >
        <img src={url} alt={alt} loading="lazy" onError={() => setBroken(true)} />
      </UnstyledButton>
      <Modal opened={isOpen} onClose={large.close} size="auto" centered title={t('kinds.image')}>
        <img src={url} alt={alt} className={classes.large} />
        <Anchor href={url} target="_blank" rel="noopener" size="sm" mt="xs" display="inline-block">
          {t('openFile')}
        </Anchor>
      </Modal>
    </>
  )
}
