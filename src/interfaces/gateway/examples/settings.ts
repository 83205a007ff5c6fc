// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "settings.set": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"groupsIgnore": true},
      "status": 201,
      "answer": {
        "settings": {
          "instanceName": "phone",
          "settings": {
            "rejectCall": false,
            "msgCall": "",
            "groupsIgnore": true,
            "alwaysOnline": false,
            "readMessages": false,
            "readStatus": false,
            "syncFullHistory": false,
            "wavoipToken": ""
          }
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "phone"},
      "body": {"groupsIgnore": "yes"},
      "status": 400,
      "answer": {"status": 400, "error": "Bad Request", "response": {"message": [["groupsIgnore must be true or false"]]}}
    }
  ],
  "settings.find": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "status": 200,
      "answer": {
        "rejectCall": false,
        "msgCall": "",
        "groupsIgnore": true,
        "alwaysOnline": false,
        "readMessages": false,
        "readStatus": false,
        "syncFullHistory": false,
        "wavoipToken": ""
      }
    },
    {
      "name": "not_found",
      "path": {"instance": "unknown"},
      "status": 404,
      "answer": {"status": 404, "error": "Not Found", "response": {"message": ["The \"unknown\" instance does not exist"]}}
    }
  ]
}
