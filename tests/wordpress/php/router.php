<?php
// For PHP's own web server: a file is served as it is, all else belongs to WordPress, or to the tests.
$path = rawurldecode( explode( '?', $_SERVER['REQUEST_URI'], 2 )[0] );
if ( '/tests-run' === $path ) {
	require __DIR__ . '/run.php';
	return;
}
if ( '/tests-query' === $path ) {
	mysqli_report( MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT );
	$database = new mysqli( 'localhost', 'root', '', 'wordpress', 0, $_GET['socket'] );
	echo json_encode( $database->query( file_get_contents( 'php://input' ) )->fetch_all( MYSQLI_ASSOC ) );
	return;
}
if ( '/' !== $path && false === strpos( $path, '..' ) && file_exists( $_SERVER['DOCUMENT_ROOT'] . $path ) ) {
	return false;
}
$_SERVER['SCRIPT_NAME']     = '/index.php';
$_SERVER['PHP_SELF']        = '/index.php';
$_SERVER['SCRIPT_FILENAME'] = $_SERVER['DOCUMENT_ROOT'] . '/index.php';
unset( $_SERVER['PATH_INFO'] );
chdir( $_SERVER['DOCUMENT_ROOT'] );
require $_SERVER['SCRIPT_FILENAME'];
