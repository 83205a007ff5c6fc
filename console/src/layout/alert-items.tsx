import { Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconBell } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { hasNotifications, useDesktopAlerts, useSoundAlerts } from './alerts.js'

/** The switches for new message alerts in the account menu. */
export function AlertItems() {
  const { t } = useTranslation('inbox')
  const [isShown, setShown] = useDesktopAlerts()
  const [isHeard, setHeard] = useSoundAlerts()
  const switchDesktop = async (isOn: boolean) => {
    const isAllowed = !isOn || (await Notification.requestPermission()) === 'granted'
    setShown(isOn && isAllowed)
    if (!isAllowed) notifications.show({ color: 'yellow', message: t('alerts.denied'), autoClose: 10_000 })
  }
  return (
    <Menu.Sub>
      <Menu.Sub.Target>
        <Menu.Sub.Item leftSection={<IconBell size={16} aria-hidden />}>{t('alerts.title')}</Menu.Sub.Item>
      </Menu.Sub.Target>
      <Menu.Sub.Dropdown>
        {hasNotifications() && (
          <Menu.CheckboxItem
            checked={isShown && Notification.permission === 'granted'}
            onChange={(isOn) => void switchDesktop(isOn)}
          >
            {t('alerts.desktop')}
          </Menu.CheckboxItem>
        )}
        <Menu.CheckboxItem checked={isHeard} onChange={setHeard}>
          {t('alerts.sound')}
        </Menu.CheckboxItem>
      </Menu.Sub.Dropdown>
    </Menu.Sub>
  )
}
