package report

// NotPrivate stamps every file of a run whose noise was fixed or left out.
const NotPrivate = "NOT PRIVATE"

// NotProtected stands in every file of private/.
const NotProtected = "NOT_PROTECTED"
